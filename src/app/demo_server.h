// The throwaway server of the demo.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "app/demo_downstream.h"
#include "app/running_server.h"
#include "base/log.h"
#include "base/result.h"

namespace recourse::app {

// All that it leaves behind goes with it.
class DemoServer {
 public:
  // The log must outlive it.
  static Result<std::unique_ptr<DemoServer>> start(Log& log);
  ~DemoServer();
  DemoServer(const DemoServer&) = delete;
  DemoServer& operator=(const DemoServer&) = delete;

  [[nodiscard]] std::string url() const { return server_->url(); }
  [[nodiscard]] DemoDownstream& downstream() { return *downstream_; }

 private:
  explicit DemoServer(std::filesystem::path directory) : directory_(std::move(directory)) {}

  std::filesystem::path directory_;
  std::unique_ptr<DemoDownstream> downstream_;
  std::unique_ptr<RunningServer> server_;
};

}  // namespace recourse::app
