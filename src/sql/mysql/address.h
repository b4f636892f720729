// Where a database is and who asks, out of a URL.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace recourse::sql::mysql {

enum class Tls : std::uint8_t { kOff, kVerified, kUnverified };

struct Address {
  std::string user;
  std::string password;
  std::string host;
  std::uint16_t port = 3306;
  // Instead of host and port, where not empty.
  std::string socket;
  // Empty for who is about to create one.
  std::string database;
  Tls tls = Tls::kOff;
  std::string tls_ca;
};

// The error shows the right form and nothing of what was given: a URL that cannot be read may have
// its password anywhere.
Result<Address> parse_address(const std::string& url);

// For messages.
std::string where(const Address& address);

}  // namespace recourse::sql::mysql
