// What a token is made of: 256 random bits under a prefix that scanners for leaked secrets can
// find. Only its SHA-256 is ever kept.
#pragma once

#include <string>
#include <string_view>

namespace recourse::api {

inline constexpr std::string_view kTokenPrefix = "rcs_";

std::string new_token_secret();
// In hexadecimal.
std::string sha256_of(std::string_view text);
// Takes the same time wherever they differ.
bool is_equal_secret(std::string_view a, std::string_view b);

}  // namespace recourse::api
