// The library's log lines, for whoever embeds it.
#pragma once

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
    // On the engine's own threads, which nothing that a user throws may end.
    try {
      if (callback_) {
        callback_(to_string(level), to_line(level, event, fields));
      } else if (level >= LogLevel::kWarning) {
        const std::string line = "recourse: " + to_line(level, event, fields) + "\n";
        (void)std::fputs(line.c_str(), stderr);
      }
    } catch (...) {
      return;
    }
  }

 private:
  Callback callback_;
};

}  // namespace recourse::embed
