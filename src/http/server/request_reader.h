// Reads one request after another out of what a client sends: head, then body, within the limits.
// It reads no socket and no clock, so that every way of cutting and spoiling a request can be
// tested without either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "http/server/chunk_decoder.h"
#include "http/server/head.h"
#include "http/server/head_scan.h"
#include "http/server/read_buffer.h"
#include "http/server/rejection.h"

namespace recourse::http {

class RequestReader {
 public:
  struct Limits {
    std::size_t header_bytes_max;
    std::size_t body_bytes_max;
  };
  explicit RequestReader(const Limits& limits)
      : limits_(limits), scan_(limits.header_bytes_max), chunks_(limits.body_bytes_max) {}

  enum class Progress : std::uint8_t {
    kNotBegun,      // not a byte of it is here
    kNeedsMore,     // read on
    kSaysContinue,  // say `100 Continue`, then go on
    kWhole,         // take() it
    kRejected,      // for good: what follows on this connection cannot be told apart
  };
  // Uses what it can of the input. After kWhole and take() it begins anew.
  Progress advance(ReadBuffer& input);

  // Only after kWhole.
  Head take();
  [[nodiscard]] const Rejection& rejection() const { return rejection_; }
  // Whether the request under way, or refused, wants no body in its answer.
  [[nodiscard]] bool is_for_head() const { return is_for_head_; }

 private:
  enum class Part : std::uint8_t { kHead, kBody, kChunks, kWhole, kRejected };

  Progress advance_head(ReadBuffer& input);
  Progress begin_body(const ReadBuffer& input);
  Progress advance_body(ReadBuffer& input);
  Progress advance_chunks(ReadBuffer& input);
  Progress reject(Rejection rejection);

  const Limits limits_;
  Part part_ = Part::kHead;
  HeadScan scan_;
  ChunkDecoder chunks_;
  Head head_;
  Rejection rejection_;
  bool is_for_head_ = false;
};

}  // namespace recourse::http
