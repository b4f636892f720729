// Whether figures are taken in full (./dev test --full), or a short form has to do.
#pragma once

#include <cstdlib>

namespace recourse::tests {

inline bool is_full() {
  const char* text = std::getenv("RECOURSE_TEST_FULL");
  return text != nullptr && *text != '\0';
}

}  // namespace recourse::tests
