#include "http/server/chunk_decoder.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "http/server/characters.h"

namespace recourse::http {
namespace {

// Extensions and trailers of one body together.
constexpr std::size_t kPassedOverMax = std::size_t{8} * 1024;
// With zeros in front.
constexpr int kSizeDigitsMax = 16;
constexpr std::string_view kBadFraming = "the chunks of the body are not framed as HTTP/1.1 says";

}  // namespace

std::size_t ChunkDecoder::feed(std::string_view text, std::string& body) {
  std::size_t at = 0;
  while (at < text.size() && state_ != State::kDone && !rejection_) {
    if (state_ == State::kData) {
      const auto have =
          static_cast<std::size_t>(std::min<std::uint64_t>(chunk_left_, text.size() - at));
      body.append(text, at, have);
      at += have;
      chunk_left_ -= have;
      if (chunk_left_ == 0) state_ = State::kDataCr;
    } else {
      step(text[at++], body.size());
    }
  }
  return at;
}

void ChunkDecoder::step(char c, std::size_t body_bytes) {
  switch (state_) {
    case State::kSizeStart:
      if (hex_value(c) < 0) return reject(400, std::string(kBadFraming));
      chunk_left_ = 0;
      size_digits_ = 0;
      state_ = State::kSize;
      return take_size(c, body_bytes);
    case State::kSize:
      if (hex_value(c) >= 0) return take_size(c, body_bytes);
      is_last_ = chunk_left_ == 0;
      if (c == ';') {
        state_ = State::kExtension;
        return pass_over(c, State::kSizeLf);
      }
      return expect(c, '\r', State::kSizeLf);
    case State::kExtension: return pass_over(c, State::kSizeLf);
    case State::kSizeLf: return expect(c, '\n', is_last_ ? State::kTrailerStart : State::kData);
    case State::kDataCr: return expect(c, '\r', State::kDataLf);
    case State::kDataLf: return expect(c, '\n', State::kSizeStart);
    case State::kTrailerStart:
      if (c == '\r') return expect(c, '\r', State::kLastLf);
      if (!is_token(c)) return reject(400, std::string(kBadFraming));
      state_ = State::kTrailer;
      return pass_over(c, State::kTrailerLf);
    case State::kTrailer: return pass_over(c, State::kTrailerLf);
    case State::kTrailerLf: return expect(c, '\n', State::kTrailerStart);
    case State::kLastLf: return expect(c, '\n', State::kDone);
    case State::kData:
    case State::kDone: break;
  }
  std::abort();
}

void ChunkDecoder::take_size(char c, std::size_t body_bytes) {
  // Refused long before it could overflow.
  chunk_left_ = chunk_left_ * 16 + static_cast<std::uint64_t>(hex_value(c));
  if (chunk_left_ > body_bytes_max_ - body_bytes) {
    return reject(413, "the body is longer than " + std::to_string(body_bytes_max_) + " bytes");
  }
  if (++size_digits_ > kSizeDigitsMax) reject(400, std::string(kBadFraming));
}

void ChunkDecoder::pass_over(char c, State at_cr) {
  if (c == '\r') {
    state_ = at_cr;
  } else if (!is_field_text(c)) {
    reject(400, std::string(kBadFraming));
  } else if (++passed_over_ > kPassedOverMax) {
    reject(431, "the extensions and trailers of the body's chunks are too long; leave them out");
  }
}

void ChunkDecoder::expect(char c, char expected, State next) {
  if (c != expected) return reject(400, std::string(kBadFraming));
  state_ = next;
}

void ChunkDecoder::reject(int status, std::string detail) {
  rejection_ = Rejection{.status = status, .detail = std::move(detail)};
}

}  // namespace recourse::http
