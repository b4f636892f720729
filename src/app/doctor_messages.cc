#include "app/doctor_messages.h"

#include <fmt/format.h>

#include "app/message_door.h"
#include "base/log.h"
#include "message/address.h"
#include "message/open_source.h"

namespace recourse::app {
namespace {

constexpr std::chrono::seconds kBrokerWithin(5);

void examine_source(const std::string& name, const SourceConfig& source, Findings& findings) {
  const std::string about = "message source " + name;
  NullLog log;
  auto opened = message::open_source(source_settings(name, source), log);
  if (!opened) {
    return findings.broken(about, opened.error().message,
                           fmt::format("correct messages.sources.{}", name));
  }
  const auto deadline = std::chrono::steady_clock::now() + kBrokerWithin;
  if (const Result<> connected = (*opened)->connect(deadline); !connected) {
    return findings.broken(about, connected.error().message,
                           remedy_by_keys("broker", "its url and topic"));
  }
  const auto address = message::parse_address(source.url.reveal());
  findings.fine(about, fmt::format("{} at {} has {}", to_string(address->broker),
                                   message::where(*address), source.settings.topic));
  // It has taken nothing, so that there is nothing to give back.
  (void)(*opened)->close(deadline);
}

}  // namespace

void examine_sources(const Config& config, Findings& findings) {
  for (const auto& [name, source] : config.messages.sources) {
    examine_source(name, source, findings);
  }
}

}  // namespace recourse::app
