#include "api/token_secret.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <array>

#include "base/invariant.h"
#include "create/sha256.h"

namespace recourse::api {
std::string new_token_secret() {
  std::array<unsigned char, 32> bytes{};
  invariant(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1,
            "without random numbers there are no tokens");
  return std::string(kTokenPrefix) + create::hex_of(bytes);
}

std::string sha256_of(std::string_view text) { return create::sha256_hex(text); }

bool is_equal_secret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace recourse::api
