// The library's log lines, for whoever embeds it.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/log.h"

namespace recourse::embed {

// Safe to call from any thread, as long as the callback is.
class CallbackLog final : public Log {
 public:
  using Callback = std::function<void(std::string_view level, std::string_view line)>;

  // Without a callback, warnings and errors go to standard error: nobody should have to switch
  // something on to hear of trouble.
  explicit CallbackLog(Callback callback) : callback_(std::move(callback)) {}

  void write(LogLevel level, std::string_view event, std::span<const LogField> fields) override {
    if (callback_) {
      callback_(to_string(level), to_line(level, event, fields));
    } else if (level >= LogLevel::kWarning) {
      fmt::print(stderr, "recourse: {}\n", to_line(level, event, fields));
    }
  }

 private:
  Callback callback_;
};

}  // namespace recourse::embed
