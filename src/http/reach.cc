#include "http/reach.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <span>

#include "base/text.h"

namespace recourse::http {
namespace {

constexpr int kMappedBits = 96;

constexpr Address mapped(std::span<const std::uint8_t, 4> v4) {
  Address address{};
  address[10] = address[11] = 0xFF;
  std::ranges::copy(v4, address.begin() + 12);
  return address;
}

constexpr AddressRange v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, int bits) {
  return {mapped(std::array<std::uint8_t, 4>{a, b, c, 0}), kMappedBits + bits};
}

constexpr AddressRange v6(std::array<std::uint16_t, 6> groups, int bits) {
  Address address{};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    address[2 * i] = static_cast<std::uint8_t>(groups[i] >> 8);
    address[2 * i + 1] = static_cast<std::uint8_t>(groups[i] & 0xFF);
  }
  return {address, bits};
}

constexpr AddressRange kMapped = v4(0, 0, 0, 0);
// Translated to IPv4 on the way (RFC 6052): as public as the address inside.
constexpr AddressRange kTranslated = v6({0x64, 0xff9b}, 96);
constexpr AddressRange kGlobalUnicast = v6({0x2000}, 3);

constexpr std::array kSpecial{
    v4(0, 0, 0, 8),           // this network; Linux takes 0.0.0.0 for loopback
    v4(10, 0, 0, 8),          // private
    v4(100, 64, 0, 10),       // shared with a carrier's own network
    v4(127, 0, 0, 8),         // loopback
    v4(169, 254, 0, 16),      // link-local, with the clouds' metadata services
    v4(172, 16, 0, 12),       // private
    v4(192, 0, 0, 24),        // protocol assignments
    v4(192, 0, 2, 24),        // documentation
    v4(192, 88, 99, 24),      // relays of 6to4
    v4(192, 168, 0, 16),      // private
    v4(198, 18, 0, 15),       // benchmarks
    v4(198, 51, 100, 24),     // documentation
    v4(203, 0, 113, 24),      // documentation
    v4(224, 0, 0, 4),         // multicast
    v4(240, 0, 0, 4),         // reserved, and broadcast
    v6({0x2001}, 23),         // protocol assignments, Teredo among them
    v6({0x2001, 0xdb8}, 32),  // documentation
    v6({0x2002}, 16),         // 6to4, which carries any IPv4 address
    v6({0x3fff}, 20),         // documentation
};

Address inner_of(const Address& address) {
  return mapped(std::span<const std::uint8_t, 4>(address.begin() + 12, 4));
}

}  // namespace

std::optional<Address> parse_address(std::string_view text) {
  const std::string whole(text);
  std::array<std::uint8_t, 4> four{};
  if (inet_pton(AF_INET, whole.c_str(), four.data()) == 1) return mapped(four);
  Address address{};
  if (inet_pton(AF_INET6, whole.c_str(), address.data()) == 1) return address;
  return std::nullopt;
}

std::optional<Address> address_of(const sockaddr& address) {
  // Copied out: the caller's buffer need not be aligned for either.
  if (address.sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &address, sizeof in);
    std::array<std::uint8_t, 4> four{};
    std::memcpy(four.data(), &in.sin_addr, four.size());
    return mapped(four);
  }
  if (address.sa_family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, &address, sizeof in);
    Address six{};
    std::memcpy(six.data(), &in.sin6_addr, six.size());
    return six;
  }
  return std::nullopt;
}

std::string to_string(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool is_v4 = kMapped.contains(address);
  inet_ntop(is_v4 ? AF_INET : AF_INET6, address.data() + (is_v4 ? 12 : 0), text.data(),
            text.size());
  return text.data();
}

bool AddressRange::contains(const Address& address) const {
  for (int bit = 0, i = 0; bit < bits_; bit += 8, ++i) {
    const int kept = std::min(8, bits_ - bit);
    const auto mask = static_cast<std::uint8_t>(0xFF << (8 - kept));
    const auto at = static_cast<std::size_t>(i);
    if ((first_[at] & mask) != (address[at] & mask)) return false;
  }
  return true;
}

Result<AddressRange> AddressRange::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view head = text.substr(0, slash);
  const auto address = parse_address(head);
  const bool is_v4 = head.find(':') == std::string_view::npos;
  const int bits_max = is_v4 ? 32 : 128;
  int bits = bits_max;
  bool good = address.has_value();
  if (slash != std::string_view::npos) {
    const std::string_view tail = text.substr(slash + 1);
    const auto [end, error] = std::from_chars(tail.data(), tail.data() + tail.size(), bits);
    good = good && error == std::errc() && end == tail.data() + tail.size() && bits >= 0 &&
           bits <= bits_max;
  }
  if (!good) {
    return fail(
        ErrorCode::kInvalid,
        fmt::format("an address range must be like 10.1.0.0/16 or fd00::/8, not {}", shown(text)));
  }
  return AddressRange(*address, bits + (is_v4 ? kMappedBits : 0));
}

bool is_public(const Address& address) {
  if (kTranslated.contains(address)) return is_public(inner_of(address));
  if (!kMapped.contains(address) && !kGlobalUnicast.contains(address)) return false;
  return std::ranges::none_of(kSpecial,
                              [&](const AddressRange& range) { return range.contains(address); });
}

Result<ReachRule> ReachRule::make(const Reach& reach) {
  ReachRule rule;
  rule.public_only_ = reach.public_only;
  for (const std::string& text : reach.allowed) {
    Result<AddressRange> range = AddressRange::parse(text);
    if (!range) return fail(range.error());
    rule.allowed_.push_back(*range);
  }
  return rule;
}

bool ReachRule::permits(const Address& address) const {
  if (!public_only_ || is_public(address)) return true;
  return std::ranges::any_of(allowed_,
                             [&](const AddressRange& range) { return range.contains(address); });
}

}  // namespace recourse::http
