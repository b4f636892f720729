// What a request asks for, taken apart: `/api/v1/tasks/a%2Fb?limit=5` into segments and parameters.
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace recourse::http {

struct Target {
  std::vector<std::string> path = {};
  std::vector<std::pair<std::string, std::string>> query = {};
};

// Only the form that begins with a slash: this is no proxy. Nothing is tidied up: `.` and `..` are
// refused however they are written, because what checks a path and what uses it must see the same.
// Segments are plain text; values of the query are UTF-8 without NUL.
Result<Target> parse_target(std::string_view text);

}  // namespace recourse::http
