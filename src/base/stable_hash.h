// A hash that is the same on every machine, in every version and for ever: what is derived from it
// may be stored and compared by others. std::hash promises none of that.
//
// FNV-1a of 128 bits: small, published, without a table or a key. It is no protection against
// somebody who looks for two texts with one hash.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace recourse {

// Most significant first.
using Hash128 = std::array<std::uint8_t, 16>;

Hash128 stable_hash(std::string_view bytes);

}  // namespace recourse
