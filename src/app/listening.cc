#include "app/listening.h"

namespace recourse::app {
namespace {

// Without the port, and without brackets.
std::string_view host_of(std::string_view listen) {
  if (listen.starts_with('[')) return listen.substr(1, listen.find(']') - 1);
  return listen.substr(0, listen.rfind(':'));
}

std::string bracketed(std::string_view host) {
  return host.find(':') == std::string_view::npos ? std::string(host)
                                                  : "[" + std::string(host) + "]";
}

// With its brackets, without a port.
std::string host_of_url(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  if (url.starts_with('[')) return std::string(url.substr(0, url.find(']') + 1));
  return std::string(url.substr(0, url.find(':')));
}

}  // namespace

bool listens_on_loopback(std::string_view listen) {
  const std::string_view host = host_of(listen);
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

std::string url_of(const Config& config, std::uint16_t port) {
  if (!config.server.base_url.empty()) return config.server.base_url;
  const std::string_view host = host_of(config.server.http.listen);
  const bool is_any = host == "0.0.0.0" || host == "::";
  return std::string(config.server.http.tls ? "https" : "http") + "://" +
         (is_any ? "localhost" : bracketed(host)) + ":" + std::to_string(port);
}

std::vector<std::string> hosts_of(const Config& config) {
  // Reachable from outside and nothing said: it may have any name.
  const bool is_local = listens_on_loopback(config.server.http.listen);
  if (!is_local && config.server.trusted_hosts.empty()) return {};
  std::vector<std::string> hosts{"localhost", "127.0.0.1", "[::1]",
                                 bracketed(host_of(config.server.http.listen))};
  if (!config.server.base_url.empty()) hosts.push_back(host_of_url(config.server.base_url));
  hosts.insert(hosts.end(), config.server.trusted_hosts.begin(), config.server.trusted_hosts.end());
  return hosts;
}

}  // namespace recourse::app
