#include "base/stable_hash.h"

#include <cstddef>

namespace recourse {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr Wide wide(std::uint64_t high, std::uint64_t low) { return Wide{high} << 64 | low; }

constexpr Wide kOffsetBasis = wide(0x6C62'272E'07BB'0142, 0x62B8'2175'6295'C58D);
constexpr Wide kPrime = wide(0x0000'0000'0100'0000, 0x0000'0000'0000'013B);

}  // namespace

Hash128 stable_hash(std::string_view bytes) {
  Wide hash = kOffsetBasis;
  for (const char byte : bytes) {
    hash ^= static_cast<std::uint8_t>(byte);
    hash *= kPrime;
  }
  Hash128 out{};
  for (std::size_t i = out.size(); i-- > 0; hash >>= 8) out[i] = static_cast<std::uint8_t>(hash);
  return out;
}

}  // namespace recourse
