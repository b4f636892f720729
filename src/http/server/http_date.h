// `Sun, 06 Nov 1994 08:49:37 GMT`, whatever the locale.
#pragma once

#include <string>
#include <string_view>

#include "base/time.h"

namespace recourse::http {

std::string http_date(std::chrono::sys_seconds time);

// Written anew only when the second has changed.
class DateLine {
 public:
  std::string_view at(TimePoint now);

 private:
  std::chrono::sys_seconds second_ = {};
  std::string text_;
};

}  // namespace recourse::http
