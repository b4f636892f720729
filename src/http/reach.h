// Where an outgoing call may go. Checked against the address a connection is made to, never against
// a name: a name can be pointed elsewhere between a check and the call.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct sockaddr;

namespace recourse::http {

// Which addresses a call may go to.
struct Reach {
  // Loopback, private, link-local and other special ranges only where `allowed` names them.
  bool public_only = false;
  // CIDR, such as 10.1.0.0/16. Means nothing where everything is allowed.
  std::vector<std::string> allowed = {};
};

// An IPv6 address, or an IPv4 one as IPv6 maps it (::ffff:a.b.c.d): one host, one spelling.
using Address = std::array<std::uint8_t, 16>;

// Empty where it is not one. IPv6 without brackets.
std::optional<Address> parse_address(std::string_view text);
// Empty for other families.
std::optional<Address> address_of(const sockaddr& address);
// As people write it.
std::string to_string(const Address& address);

// Reachable from everywhere by what the IANA's registries of special-purpose addresses say. Those
// that carry an IPv4 address inside are what that address is.
bool is_public(const Address& address);

class AddressRange {
 public:
  // 10.0.0.0/8, fd00::/8, or one address alone.
  static Result<AddressRange> parse(std::string_view text);

  constexpr AddressRange(const Address& first, int bits) : first_(first), bits_(bits) {}

  [[nodiscard]] bool contains(const Address& address) const;

 private:
  Address first_;
  int bits_;  // of the 128
};

class ReachRule {
 public:
  // The error names the range that is none.
  static Result<ReachRule> make(const Reach& reach);

  [[nodiscard]] bool permits(const Address& address) const;
  // What cannot be read is permitted only where everything is.
  [[nodiscard]] bool permits(const std::optional<Address>& address) const {
    return address ? permits(*address) : !public_only_;
  }

 private:
  bool public_only_ = false;
  std::vector<AddressRange> allowed_;
};

}  // namespace recourse::http
