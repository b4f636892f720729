#include "app/config/secret.h"

#include <fmt/format.h>

#include <fstream>
#include <utility>

#include "base/text.h"

namespace recourse::app {
namespace {

constexpr std::string_view kVariable = "env:";
constexpr std::string_view kFile = "file:";

Result<std::string> from_variable(const std::string& name, const Environment& environment) {
  const auto found = environment.find(name);
  if (found == environment.end()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("the environment variable {} is not set", shown(name)));
  }
  return found->second;
}

Result<std::string> from_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string content(kSecretBytesMax + 1, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  // A folder opens, and only then fails to be read.
  const bool readable = file.is_open() && !file.bad() && (file.gcount() > 0 || file.eof());
  if (!readable)
    return fail(ErrorCode::kNotFound, fmt::format("cannot read the file {}", shown(path)));
  content.resize(static_cast<std::size_t>(file.gcount()));
  if (content.size() > kSecretBytesMax) {
    return fail(ErrorCode::kInvalid,
                fmt::format("the file {} has more than {} bytes", shown(path), kSecretBytesMax));
  }
  return content;
}

}  // namespace

bool is_reference(std::string_view text) {
  return (text.starts_with(kVariable) && text.size() > kVariable.size()) ||
         (text.starts_with(kFile) && text.size() > kFile.size());
}

Result<Secret> resolve(const std::string& reference, const Environment& environment) {
  Result<std::string> value = reference.starts_with(kVariable)
                                  ? from_variable(reference.substr(kVariable.size()), environment)
                                  : from_file(reference.substr(kFile.size()));
  if (!value) return fail(std::move(value).error());
  // Editors and `echo` end files with a line end that nobody means.
  while (value->ends_with('\n') || value->ends_with('\r')) value->pop_back();
  if (value->empty()) {
    return fail(ErrorCode::kInvalid, fmt::format("{} is empty", shown(reference)));
  }
  return Secret(reference, *std::move(value));
}

}  // namespace recourse::app
