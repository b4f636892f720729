#include "task/follow_up.h"

#include <cstddef>

namespace recourse::task {

TaskId follow_up_id(const TaskId& parent, int episode, std::uint32_t index) {
  // SplitMix64 (Steele, Lea and Flood, 2014) over all that the parent's random bits and the place
  // hold: stable for ever, because the ids stand in databases.
  const auto mix = [](std::uint64_t bits) {
    bits += 0x9E37'79B9'7F4A'7C15;
    bits = (bits ^ bits >> 30) * 0xBF58'476D'1CE4'E5B9;
    bits = (bits ^ bits >> 27) * 0x94D0'49BB'1331'11EB;
    return bits ^ bits >> 31;
  };
  std::uint64_t head = 0;
  std::uint64_t tail = 0;
  for (std::size_t i = 0; i < 8; ++i) head = head << 8 | parent.value.bytes[i];
  for (std::size_t i = 8; i < 16; ++i) tail = tail << 8 | parent.value.bytes[i];
  const std::uint64_t place = static_cast<std::uint64_t>(episode) << 32 | index;
  const std::uint64_t low = mix(mix(mix(head) ^ tail) ^ place);
  const std::uint64_t high = mix(low ^ tail);
  TaskId id = parent;
  for (std::size_t i = 6; i < 8; ++i) {
    id.value.bytes[i] = static_cast<std::uint8_t>(high >> (8 * (7 - i)));
  }
  for (std::size_t i = 8; i < 16; ++i) {
    id.value.bytes[i] = static_cast<std::uint8_t>(low >> (8 * (15 - i)));
  }
  return id;
}

}  // namespace recourse::task
