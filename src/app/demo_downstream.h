// The other side of the demo: a small service that is sick until somebody heals it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/log.h"
#include "base/result.h"
#include "http/server.h"

namespace recourse::app {

// Safe to use from any thread.
class DemoDownstream {
 public:
  // On a free port of this machine. The log must outlive it.
  static Result<std::unique_ptr<DemoDownstream>> start(Log& log);

  [[nodiscard]] std::uint16_t port() const { return server_->port(); }
  // /points answers 503 until then.
  void heal() { is_well_ = true; }
  // /mail refuses everything for good until then.
  void learn_address() { knows_address_ = true; }

 private:
  http::Response answer(const http::Request& request);

  std::atomic<bool> is_well_ = false;
  std::atomic<bool> knows_address_ = false;
  // Last: it calls the rest.
  std::unique_ptr<http::Server> server_;
};

}  // namespace recourse::app
