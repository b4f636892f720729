#include "http/hmac.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

#include "base/invariant.h"

namespace recourse::http {

std::string hmac_sha256(std::string_view key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  const auto* made =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size);
  invariant(made != nullptr, "OpenSSL has SHA-256");
  return {reinterpret_cast<const char*>(digest.data()), size};
}

}  // namespace recourse::http
