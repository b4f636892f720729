#include "app/authorities.h"

#include <fmt/format.h>

#include <cstddef>
#include <fstream>

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

}  // namespace recourse::app
