#include "degrade/frame.h"

#include <array>
#include <boost/crc.hpp>
#include <cstdint>
#include <optional>

#include "base/invariant.h"

namespace recourse::degrade {
namespace {

// No text begins so.
constexpr std::string_view kMark("\xF5RC\x01", 4);

std::string four_bytes(std::uint32_t number) {
  std::string bytes(4, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(number >> (8 * i) & 0xFF);
  }
  return bytes;
}

std::uint32_t number_of(std::string_view bytes) {
  std::uint32_t number = 0;
  for (std::size_t i = 4; i-- > 0;) {
    number = number << 8 | static_cast<std::uint8_t>(bytes[i]);
  }
  return number;
}

std::uint32_t checksum(std::string_view length, std::string_view record) {
  boost::crc_32_type crc;
  crc.process_bytes(length.data(), length.size());
  crc.process_bytes(record.data(), record.size());
  return crc.checksum();
}

// The record of the frame that `rest` begins with; empty where there is none that is whole.
std::optional<std::string_view> first_record(std::string_view rest) {
  if (rest.size() < kFrameOverhead || !rest.starts_with(kMark)) return std::nullopt;
  const std::string_view length = rest.substr(4, 4);
  const std::size_t size = number_of(length);
  if (size > rest.size() - kFrameOverhead) return std::nullopt;
  const std::string_view record = rest.substr(kFrameOverhead, size);
  if (checksum(length, record) != number_of(rest.substr(8, 4))) return std::nullopt;
  return record;
}

// Whether what is left after the last whole frame is one that was not written to its end. A frame
// that is all there, but for a damaged length, is known by the checksum of the length it has.
bool is_cut_short(std::string_view tail) {
  if (tail.size() <= kMark.size()) return kMark.starts_with(tail);
  if (!tail.starts_with(kMark) || tail.find(kMark, 1) != std::string_view::npos) return false;
  if (tail.size() < kFrameOverhead) return true;
  const std::string_view record = tail.substr(kFrameOverhead);
  if (number_of(tail.substr(4, 4)) <= record.size()) return false;
  const std::string length = four_bytes(static_cast<std::uint32_t>(record.size()));
  return checksum(length, record) != number_of(tail.substr(8, 4));
}

}  // namespace

std::string to_frame(std::string_view record) {
  invariant(record.size() <= UINT32_MAX, "a spooled record is smaller than 4 GiB");
  const std::string length = four_bytes(static_cast<std::uint32_t>(record.size()));
  std::string frame;
  frame.reserve(kFrameOverhead + record.size());
  frame.append(kMark).append(length).append(four_bytes(checksum(length, record))).append(record);
  return frame;
}

FramesRead read_frames(std::string_view file) {
  FramesRead read;
  const std::string_view all = file;
  std::size_t lost = 0;
  while (!file.empty()) {
    if (const auto record = first_record(file)) {
      read.records.emplace_back(*record);
      file.remove_prefix(kFrameOverhead + record->size());
      read.damaged += lost;
      lost = 0;
      continue;
    }
    // The first byte belongs to nothing; the next frame can only begin at a mark.
    const std::size_t next = file.find(kMark, 1);
    const std::size_t skipped = next == std::string_view::npos ? file.size() : next;
    lost += skipped;
    file.remove_prefix(skipped);
  }
  (is_cut_short(all.substr(all.size() - lost)) ? read.torn : read.damaged) += lost;
  return read;
}

}  // namespace recourse::degrade
