// Whether figures are taken in full (./dev test --full). Times and memory are measured only there,
// on a machine that has nothing else to do; the normal run proves the same rules by counting.
#pragma once

#include <cstdlib>

namespace recourse::tests {

inline bool is_full() {
  const char* text = std::getenv("RECOURSE_TEST_FULL");
  return text != nullptr && *text != '\0';
}

// For a test that measures: GTEST_SKIP() << kMeasuredInFull.
inline constexpr const char* kMeasuredInFull = "measured by ./dev test --full";

}  // namespace recourse::tests
