#include "api/token_secret.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <array>
#include <span>

#include "base/invariant.h"

namespace recourse::api {
namespace {

std::string hex_of(std::span<const unsigned char> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

}  // namespace

std::string new_token_secret() {
  std::array<unsigned char, 32> bytes{};
  invariant(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1,
            "without random numbers there are no tokens");
  return std::string(kTokenPrefix) + hex_of(bytes);
}

std::string sha256_of(std::string_view text) {
  std::array<unsigned char, 32> digest{};
  unsigned int size = 0;
  invariant(EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) == 1,
            "SHA-256 needs nothing that could be missing");
  return hex_of(digest);
}

bool is_equal_secret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace recourse::api
