#include "sql/mysql/address.h"

#include <fmt/format.h>
#include <sys/un.h>

#include <boost/url.hpp>
#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

namespace recourse::sql::mysql {

namespace {

namespace urls = boost::urls;

Unexpected refuse(std::string_view complaint) {
  return fail(ErrorCode::kInvalid,
              fmt::format("database URL: {}; the form is mysql://user:password@host:3306/database "
                          "or mariadb://..., optionally with ?socket=/path, ?tls=on, "
                          "?tls=unverified or ?tls_ca=/path; write @ : / ? # % in a password as "
                          "%40 %3A %2F %3F %23 %25",
                          complaint));
}

Result<> read_parameter(Address& address, std::string_view key, std::string value) {
  if (key == "socket") {
    address.socket = std::move(value);
  } else if (key == "tls_ca") {
    address.tls_ca = std::move(value);
  } else if (key == "tls" && value == "on") {
    address.tls = Tls::kVerified;
  } else if (key == "tls" && value == "unverified") {
    address.tls = Tls::kUnverified;
  } else if (key == "tls" && value == "off") {
    address.tls = Tls::kOff;
  } else {
    return refuse("there is a parameter it does not know");
  }
  return {};
}

Result<> read_authority(Address& address, const urls::url_view& url) {
  address.user = url.user();
  address.password = url.password();
  address.host = url.host_address();
  if (!url.has_port()) return {};
  // Not the library's port_number(), which takes 99999 for some other port.
  const std::string port = url.port();
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc{} || end != port.data() + port.size() || address.port == 0) {
    return refuse("the port must be between 1 and 65535");
  }
  return {};
}

}  // namespace

Result<Address> parse_address(const std::string& url) {
  const auto parsed = urls::parse_uri(url);
  if (!parsed) return refuse("it cannot be read");
  if (parsed->scheme() != "mysql" && parsed->scheme() != "mariadb") {
    return refuse("it must begin with mysql:// or mariadb://");
  }
  if (parsed->has_fragment()) return refuse("it must not have a #");

  Address address;
  if (Result<> read = read_authority(address, *parsed); !read) return fail(read.error());
  const auto segments = parsed->segments();
  if (segments.size() > 1) {
    return refuse("after the host there must be one name, that of the database");
  }
  if (!segments.empty()) address.database = *segments.begin();
  for (const auto& parameter : parsed->params()) {
    Result<> read = read_parameter(address, parameter.key, parameter.value);
    if (!read) return fail(std::move(read).error());
  }
  if (address.host.empty() && address.socket.empty()) return refuse("it names no host");
  // The library copies it without looking.
  if (address.socket.size() >= sizeof(sockaddr_un::sun_path)) {
    return refuse("the path of the socket is longer than a system allows");
  }
  return address;
}

std::string where(const Address& address) {
  if (!address.socket.empty()) return address.socket;
  return fmt::format("{}:{}", address.host, address.port);
}

}  // namespace recourse::sql::mysql
