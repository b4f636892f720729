// Records in a file that may end in the middle of a write: each in a frame with a mark, its length
// and a checksum, so that what was written whole is told from what was not.
//
//   mark (4 bytes) | length (4, little endian) | CRC-32 of length and record (4) | record
//
// Invariants
//   1. Of any prefix of a file exactly the frames that it holds whole are read.
//   2. Damage loses the frames it hits and no others: reading goes on at the next mark that leads
//      to a whole frame.
//   3. A frame of its full length is never taken for one that was cut short.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace recourse::degrade {

inline constexpr std::size_t kFrameOverhead = 12;

// Up to 4 GiB, which no record comes near.
std::string to_frame(std::string_view record);

struct FramesRead {
  std::vector<std::string> records;
  // Bytes that belong to no whole frame.
  std::size_t damaged = 0;
  // Bytes at the end that are the beginning of a frame and no more: a write that did not finish.
  std::size_t torn = 0;
};

FramesRead read_frames(std::string_view file);

}  // namespace recourse::degrade
