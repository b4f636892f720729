// SHA-256 as people and other programs write it.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace recourse::create {

std::string hex_of(std::span<const unsigned char> bytes);
// 64 digits in lower case.
std::string sha256_hex(std::string_view bytes);

}  // namespace recourse::create
