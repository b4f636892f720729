// A whole server in one object: the one place where its parts are put together.
//
// They end in the opposite order: first nobody new is let in, then what runs is waited for, then
// the store is closed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/config/config.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "engine/core/command.h"

namespace recourse::app {

class RunningServer {
 public:
  // Listens and runs tasks when it answers. The log must outlive it.
  static Result<std::unique_ptr<RunningServer>> start(const Config& config,
                                                      const Environment& environment, Log& log);
  virtual ~RunningServer() = default;

  [[nodiscard]] virtual std::uint16_t port() const = 0;
  // Where people and curl reach it.
  [[nodiscard]] virtual std::string url() const = 0;
  // How often the engine's loop has gone round; asks it to do so again. The same number some time
  // later: it hangs.
  [[nodiscard]] virtual std::uint64_t turns() = 0;
  // Red on /readyz, takes nothing new, waits for what runs up to the limit. A shorter limit from
  // another thread forces.
  virtual engine::Stopped stop(Duration limit) = 0;
};

}  // namespace recourse::app
