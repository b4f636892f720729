// PostgreSQL's binary format of the few types that are bound or read: type numbers from its
// catalog, numbers with the most significant byte first.
#pragma once

#include <libpq-fe.h>

#include <bit>
#include <concepts>
#include <cstring>

namespace recourse::sql::postgres {

inline constexpr Oid kUnknownType = 0;  // the server finds out
inline constexpr Oid kBoolType = 16;
inline constexpr Oid kByteaType = 17;
inline constexpr Oid kInt8Type = 20;
inline constexpr Oid kInt2Type = 21;
inline constexpr Oid kInt4Type = 23;
inline constexpr Oid kTextType = 25;
inline constexpr Oid kByteaArrayType = 1001;
inline constexpr Oid kTextArrayType = 1009;
inline constexpr Oid kInt8ArrayType = 1016;

inline constexpr int kBinaryFormat = 1;

// The builtins, because C++20 has no std::byteswap yet.
template <std::unsigned_integral T>
constexpr T in_network_order(T number) {
  if constexpr (std::endian::native == std::endian::big || sizeof(T) == 1) {
    return number;
  } else if constexpr (sizeof(T) == 2) {
    return __builtin_bswap16(number);
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bswap32(number);
  } else {
    return __builtin_bswap64(number);
  }
}

template <std::unsigned_integral T>
void write_number(char* to, T number) {
  const T swapped = in_network_order(number);
  std::memcpy(to, &swapped, sizeof swapped);
}

template <std::unsigned_integral T>
T read_number(const char* from) {
  T swapped{};
  std::memcpy(&swapped, from, sizeof swapped);
  return in_network_order(swapped);
}

}  // namespace recourse::sql::postgres
