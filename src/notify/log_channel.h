// Notices as lines of the log: built in, and where everything goes that no rule sends elsewhere.
#pragma once

#include <string>
#include <utility>

#include "base/log.h"
#include "notify/channel.h"

namespace recourse::notify {

class LogChannel final : public Channel {
 public:
  // The log must outlive it.
  explicit LogChannel(Log& log, std::string name = "log") : log_(log), name_(std::move(name)) {}

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] bool reaches_people() const noexcept override { return false; }
  Result<> send(const Notice& notice, std::stop_token stop) override;

 private:
  Log& log_;
  const std::string name_;
};

}  // namespace recourse::notify
