// What a text of the configuration must look like. Each answers nothing, or what is wrong, to stand
// after the key's name: "must be ...".
#pragma once

#include <string>
#include <string_view>

namespace recourse::app {

struct HostPort {
  std::string host;
  int port = 0;
  bool valid = false;
};
// HOST:PORT or [::1]:PORT.
HostPort split_listen(std::string_view text);
bool is_loopback(std::string_view host);

std::string check_listen(std::string_view text);
// http or https, with a host, and without a password, which would be seen.
std::string check_url(std::string_view text);
std::string check_not_empty(std::string_view text);
// Plain text of at most 100 bytes; a * at the end stands for all kinds that begin so.
std::string check_kind_name(std::string_view name);
std::string check_name(std::string_view name);
// Of a guard: it stands in a kind's name and in paths.
std::string check_guard_name(std::string_view name);
// A path that may be added to the server's own: `/api/orders/manual-success`.
std::string check_route(std::string_view path);
std::string check_zone(std::string_view name);
// A header that may be sent, is not ours to set, and holds no secret.
std::string check_header_name(std::string_view name);
// Of those that a program may be given: not what the runner sets.
std::string check_variable_name(std::string_view name);

}  // namespace recourse::app
