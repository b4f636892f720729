// A body that comes in chunks. Our own rather than Beast's, whose assertions a client can reach by
// sending the last chunk byte by byte, and ours stay on in release builds.
//
// Pure: bytes in, body out, however the bytes were cut. Extensions and trailers are read over, and
// bounded: nothing here uses them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/server/rejection.h"

namespace recourse::http {

class ChunkDecoder {
 public:
  explicit ChunkDecoder(std::size_t body_bytes_max) : body_bytes_max_(body_bytes_max) {}

  // How many bytes were taken; all of them, unless the body ended or was refused.
  std::size_t feed(std::string_view text, std::string& body);

  [[nodiscard]] bool is_done() const { return state_ == State::kDone; }
  [[nodiscard]] const std::optional<Rejection>& rejection() const { return rejection_; }

 private:
  enum class State : std::uint8_t {
    kSizeStart,
    kSize,
    kExtension,
    kSizeLf,
    kData,
    kDataCr,
    kDataLf,
    kTrailerStart,
    kTrailer,
    kTrailerLf,
    kLastLf,
    kDone,
  };

  void step(char c, std::size_t body_bytes);
  void take_size(char c, std::size_t body_bytes);
  // Part of an extension or a trailer.
  void pass_over(char c, State at_cr);
  void expect(char c, char expected, State next);
  void reject(int status, std::string detail);

  std::size_t body_bytes_max_;
  std::uint64_t chunk_left_ = 0;
  int size_digits_ = 0;
  std::size_t passed_over_ = 0;
  State state_ = State::kSizeStart;
  bool is_last_ = false;
  std::optional<Rejection> rejection_;
};

}  // namespace recourse::http
