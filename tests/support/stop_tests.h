// For what no test can go on without.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace recourse::tests {

[[noreturn]] inline void stop_tests(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::abort();
}

}  // namespace recourse::tests
