// Who knows the secret wrote this: the signature under what we send to others.
#pragma once

#include <string>
#include <string_view>

namespace recourse::http {

// The 32 bytes of HMAC-SHA256.
std::string hmac_sha256(std::string_view key, std::string_view text);

}  // namespace recourse::http
