#include "http/server/request_reader.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <variant>

namespace recourse::http {
namespace {

// A length is only a promise: room is made for no more than this at its word.
constexpr std::uint64_t kReservedAtOnce = std::uint64_t{64} * 1024;

// Old clients sent an empty line after a body; RFC 9112 asks to bear with it.
void pass_over_empty_lines(ReadBuffer& input) {
  while (input.view().starts_with("\r\n")) input.consume(2);
}

}  // namespace

RequestReader::Progress RequestReader::advance(ReadBuffer& input) {
  switch (part_) {
    case Part::kHead: return advance_head(input);
    case Part::kBody: return advance_body(input);
    case Part::kChunks: return advance_chunks(input);
    case Part::kWhole: return Progress::kWhole;
    case Part::kRejected: return Progress::kRejected;
  }
  std::abort();
}

Head RequestReader::take() {
  part_ = Part::kHead;
  scan_ = HeadScan(limits_.header_bytes_max);
  return std::move(head_);
}

RequestReader::Progress RequestReader::advance_head(ReadBuffer& input) {
  pass_over_empty_lines(input);
  const std::string_view text = input.view();
  if (text.empty()) return Progress::kNotBegun;
  if (text == "\r") return Progress::kNeedsMore;
  is_for_head_ = text.starts_with("HEAD ");
  HeadScan::Verdict verdict = scan_.look(text);
  if (std::holds_alternative<HeadScan::NeedsMore>(verdict)) return Progress::kNeedsMore;
  if (auto* rejection = std::get_if<Rejection>(&verdict)) return reject(std::move(*rejection));
  const std::size_t bytes = std::get<HeadScan::Whole>(verdict).bytes;
  std::variant<Head, Rejection> head = read_head(text.substr(0, bytes));
  if (auto* rejection = std::get_if<Rejection>(&head)) return reject(std::move(*rejection));
  head_ = std::get<Head>(std::move(head));
  input.consume(bytes);
  const Progress begun = begin_body(input);
  return begun == Progress::kNeedsMore && !input.view().empty() ? advance(input) : begun;
}

RequestReader::Progress RequestReader::begin_body(const ReadBuffer& input) {
  if (head_.body_bytes > limits_.body_bytes_max) {
    return reject({.status = 413,
                   .detail = "the body is longer than " + std::to_string(limits_.body_bytes_max) +
                             " bytes; send a shorter one"});
  }
  if (head_.is_chunked) {
    chunks_ = ChunkDecoder(limits_.body_bytes_max);
    part_ = Part::kChunks;
  } else if (head_.body_bytes > 0) {
    head_.request.body.reserve(std::min(head_.body_bytes, kReservedAtOnce));
    part_ = Part::kBody;
  } else {
    part_ = Part::kWhole;
    return Progress::kWhole;
  }
  // Who has already begun to send needs no word.
  const bool waits = head_.expects_continue && input.view().empty();
  return waits ? Progress::kSaysContinue : Progress::kNeedsMore;
}

RequestReader::Progress RequestReader::advance_body(ReadBuffer& input) {
  std::string& body = head_.request.body;
  const std::string_view text = input.view();
  const std::size_t have = std::min<std::size_t>(head_.body_bytes - body.size(), text.size());
  body.append(text, 0, have);
  input.consume(have);
  if (body.size() < head_.body_bytes) return Progress::kNeedsMore;
  part_ = Part::kWhole;
  return Progress::kWhole;
}

RequestReader::Progress RequestReader::advance_chunks(ReadBuffer& input) {
  input.consume(chunks_.feed(input.view(), head_.request.body));
  if (chunks_.rejection()) return reject(*chunks_.rejection());
  if (!chunks_.is_done()) return Progress::kNeedsMore;
  part_ = Part::kWhole;
  return Progress::kWhole;
}

RequestReader::Progress RequestReader::reject(Rejection rejection) {
  rejection_ = std::move(rejection);
  part_ = Part::kRejected;
  return Progress::kRejected;
}

}  // namespace recourse::http
