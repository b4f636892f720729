#include "message/address.h"

#include <fmt/format.h>

#include <boost/url.hpp>
#include <charconv>
#include <string_view>

namespace recourse::message {
namespace {

namespace urls = boost::urls;

Unexpected refuse(std::string_view complaint) {
  return fail(
      ErrorCode::kInvalid,
      fmt::format("{}; the forms are amqp://user:password@host:5672/virtual-host, amqps://..., "
                  "kafka://host:9092,host:9092, kafkas://user:password@host:9093 and "
                  "redis://user:password@host:6379/0; write @ : / ? # % in a password as %40 %3A "
                  "%2F %3F %23 %25",
                  complaint));
}

struct Scheme {
  std::string_view name;
  BrokerKind broker;
  bool tls;
  std::uint16_t port;
};
constexpr Scheme kSchemes[] = {
    {"amqp", BrokerKind::kRabbitmq, false, 5672}, {"amqps", BrokerKind::kRabbitmq, true, 5671},
    {"kafka", BrokerKind::kKafka, false, 9092},   {"kafkas", BrokerKind::kKafka, true, 9093},
    {"redis", BrokerKind::kRedis, false, 6379},   {"rediss", BrokerKind::kRedis, true, 6379}};

const Scheme* scheme_of(std::string_view url) {
  for (const Scheme& scheme : kSchemes) {
    if (url.starts_with(fmt::format("{}://", scheme.name))) return &scheme;
  }
  return nullptr;
}

// One host; a list of them is read one by one, because a URL has only one.
Result<> read_one(const std::string& text, const Scheme& scheme, Address& address) {
  const auto parsed = urls::parse_uri(text);
  if (!parsed) return refuse("it cannot be read");
  if (parsed->has_fragment() || parsed->has_query()) return refuse("it must have neither ? nor #");
  Endpoint endpoint{parsed->host_address(), scheme.port};
  if (endpoint.host.empty()) return refuse("it names no host");
  if (parsed->has_port()) {
    const std::string port = parsed->port();
    const auto [end, error] =
        std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
    if (error != std::errc{} || end != port.data() + port.size() || endpoint.port == 0) {
      return refuse("the port must be between 1 and 65535");
    }
  }
  if (parsed->has_userinfo()) {
    address.user = parsed->user();
    address.password = parsed->password();
  }
  const auto segments = parsed->segments();
  if (segments.size() > 1) return refuse("after the host there must be one name at most");
  if (!segments.empty()) address.path = *segments.begin();
  address.endpoints.push_back(std::move(endpoint));
  return {};
}

Result<> check_path(const Address& address) {
  if (address.broker == BrokerKind::kKafka && !address.path.empty()) {
    return refuse("Kafka has nothing after the host; the topic is a setting of its own");
  }
  if (address.broker == BrokerKind::kRedis &&
      address.path.find_first_not_of("0123456789") != std::string::npos) {
    return refuse("after the host there must be the number of a database");
  }
  return {};
}

}  // namespace

Result<Address> parse_address(const std::string& url) {
  const Scheme* scheme = scheme_of(url);
  if (scheme == nullptr) return refuse("it must begin with amqp://, kafka:// or redis://");
  if (scheme->broker == BrokerKind::kRedis && scheme->tls) {
    return refuse(
        "rediss:// is not supported, because the client library here has no TLS: use redis:// over "
        "a "
        "private network or through a TLS tunnel (stunnel)");
  }
  Address address{.broker = scheme->broker,
                  .tls = scheme->tls,
                  .user = {},
                  .password = {},
                  .endpoints = {},
                  .path = {}};
  const std::string head = fmt::format("{}://", scheme->name);
  std::string rest = url.substr(head.size());
  // The first of a list may have the user before it; a comma in a password is written as %2C.
  if (address.broker == BrokerKind::kKafka) {
    for (std::size_t comma = rest.find(','); comma != std::string::npos; comma = rest.find(',')) {
      if (Result<> read = read_one(head + rest.substr(0, comma), *scheme, address); !read)
        return fail(read.error());
      rest.erase(0, comma + 1);
    }
  }
  if (Result<> read = read_one(head + rest, *scheme, address); !read)
    return fail(std::move(read).error());
  if (Result<> fits = check_path(address); !fits) return fail(std::move(fits).error());
  return address;
}

std::string where(const Address& address) {
  std::string text;
  for (const Endpoint& endpoint : address.endpoints) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", endpoint.host, endpoint.port);
  }
  return text;
}

}  // namespace recourse::message
