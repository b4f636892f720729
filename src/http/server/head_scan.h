// Finds where the head of a request ends, and refuses on the way what two programs might read
// differently: that is how one request is smuggled inside another. Beast's parser takes some of it
// (folded lines) and reads on for ever at some of it (lines that end in a bare LF).
//
// Pure: bytes in, a verdict out, however the bytes were cut.
#pragma once

#include <cstddef>
#include <string_view>
#include <variant>

#include "http/server/rejection.h"

namespace recourse::http {

class HeadScan {
 public:
  explicit HeadScan(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  struct NeedsMore {};
  struct Whole {
    std::size_t bytes;  // with the empty line
  };
  using Verdict = std::variant<NeedsMore, Whole, Rejection>;

  // All that has come of the head so far; it begins with what it began with at the last call.
  Verdict look(std::string_view text);

 private:
  [[nodiscard]] Rejection too_long() const;

  std::size_t bytes_max_;
  std::size_t line_start_ = 0;
  std::size_t looked_ = 0;
};

}  // namespace recourse::http
