// The normal run checks bounds by counting calls, rows and bytes. `./dev test --full` does the same
// with more kills, rows and threads (is_full), and at its end measures times and memory, one test
// at a time, with nothing else running (is_measuring).
#pragma once

#include <cstdlib>

namespace recourse::tests {

inline bool is_set(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr && *text != '\0';
}

inline bool is_full() { return is_set("RECOURSE_TEST_FULL"); }

// In the tests that CMake calls *_measured.
inline bool is_measuring() { return is_set("RECOURSE_TEST_MEASURE"); }

// For a test that only measures: GTEST_SKIP() << kMeasuredInFull.
inline constexpr const char* kMeasuredInFull = "measured by ./dev test --full";

}  // namespace recourse::tests
