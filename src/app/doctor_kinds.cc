#include "app/doctor_kinds.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <sstream>

#include "app/reachable.h"
#include "http/curl_url.h"

namespace recourse::app {
namespace {

constexpr Duration kConnectWithin = std::chrono::seconds(3);

bool is_program(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

std::optional<std::string> find_program(const std::string& name, const Environment& environment) {
  if (name.find('/') != std::string::npos) {
    return is_program(name) ? std::optional(name) : std::nullopt;
  }
  const auto path = environment.find("PATH");
  std::istringstream folders(path == environment.end() ? "/usr/bin:/bin" : path->second);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = folder + "/" + name;
    if (is_program(candidate)) return candidate;
  }
  return std::nullopt;
}

void examine_program(const std::string& name, const ExecKind& exec, const Environment& environment,
                     Findings& findings) {
  const std::string about = "kind " + name;
  const std::string program = exec.command.empty() ? "" : exec.command.front();
  const auto found = find_program(program, environment);
  if (!found) {
    return findings.broken(about, fmt::format("{} is no program that can be run here", program),
                           fmt::format("install it, chmod +x it, or correct kinds.{}.command; "
                                       "who runs the server must be allowed to run it",
                                       name));
  }
  findings.fine(about, *found + " can be run");
}

}  // namespace

void examine_url(const std::string& about, const std::string& key, const std::string& url,
                 Findings& findings) {
  const auto destination = http::destination_of(url);
  if (!destination) {
    return findings.broken(about, destination.error().message, "correct " + key);
  }
  const Result<> connected = connect_to(destination->origin, kConnectWithin);
  if (connected) return findings.fine(about, destination->origin + " can be reached");
  const bool unknown = connected.error().code == ErrorCode::kNotFound;
  findings.broken(
      about,
      fmt::format("{} {}: {}", destination->origin,
                  unknown ? "has a name that nobody knows" : "does not answer",
                  connected.error().message),
      unknown ? fmt::format("correct {}, or this machine's name service", key)
              : fmt::format("start it, open the way through the firewall, or correct {}", key));
}

void examine_kinds(const Config& config, const Environment& environment, Findings& findings) {
  if (config.kinds.empty() && config.guards.empty()) {
    findings.doubtful("kinds", "none is declared, so no task can run",
                      "declare some under kinds:, as in recourse config reference");
  }
  for (const auto& [name, kind] : config.kinds) {
    switch (kind.type) {
      case KindType::kHttp:
        examine_url("kind " + name, fmt::format("kinds.{}.url", name), kind.http.url, findings);
        if (!kind.http.probe_url.empty()) {
          examine_url("kind " + name, fmt::format("kinds.{}.probe-url", name), kind.http.probe_url,
                      findings);
        }
        break;
      case KindType::kExec: examine_program(name, kind.exec, environment, findings); break;
      case KindType::kWorker: findings.fine("kind " + name, "is leased by programs outside"); break;
    }
  }
}

}  // namespace recourse::app
