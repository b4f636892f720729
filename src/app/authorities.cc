#include "app/authorities.h"

#include <fmt/format.h>

#include <cstddef>
#include <fstream>

#include "app/config/fill.h"
#include "base/text.h"

namespace recourse::app {
namespace {

// The system's own file has some 200 KiB.
constexpr std::size_t kAuthoritiesBytesMax = std::size_t{1} << 20;

}  // namespace

Result<std::string> read_authorities(const std::string& path) {
  if (path.empty()) return std::string();
  std::ifstream file(path, std::ios::binary);
  std::string text(kAuthoritiesBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  // A folder opens, and only then fails to be read.
  if (!file.is_open() || file.bad()) {
    return fail(ErrorCode::kInvalid, fmt::format("names the file {}, which cannot be read; it must "
                                                 "be there and open to the server's user",
                                                 shown(path)));
  }
  if (text.size() > kAuthoritiesBytesMax) {
    return fail(ErrorCode::kInvalid,
                fmt::format("names the file {}, which has more than 1 MiB", shown(path)));
  }
  if (text.find("-----BEGIN CERTIFICATE-----") == std::string::npos) {
    return fail(ErrorCode::kInvalid,
                fmt::format("names the file {}, which has no certificate in it; it must be PEM: "
                            "-----BEGIN CERTIFICATE-----",
                            shown(path)));
  }
  return text;
}

std::vector<Problem> check_authorities(const Config& config) {
  std::vector<Problem> problems;
  const auto check = [&](const std::string& key, const std::string& path) {
    const auto text = read_authorities(path);
    if (text) return;
    const auto place = config.origins.find(key);
    problems.push_back({.where = place == config.origins.end() ? Where() : place->second,
                        .message = key + " " + text.error().message});
  };
  for (const auto& [name, source] : config.messages.sources) {
    check(path_of_item("messages.sources", name) + ".tls-ca", source.settings.tls_ca);
  }
  for (const auto& [name, channel] : config.notify.channels) {
    check(path_of_item("notify.channels", name) + ".authorities", channel.authorities);
  }
  return problems;
}

}  // namespace recourse::app
