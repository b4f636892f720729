#include "create/sha256.h"

#include <openssl/evp.h>

#include <array>

#include "base/invariant.h"

namespace recourse::create {

std::string hex_of(std::span<const unsigned char> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, 32> digest{};
  unsigned int size = 0;
  invariant(
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) == 1,
      "SHA-256 needs nothing that could be missing");
  return hex_of(digest);
}

}  // namespace recourse::create
