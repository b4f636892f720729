#include "app/degrade_door.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "degrade/cleaning.h"

namespace recourse::app {
namespace {

// How long a caller waits for the store before the spool takes its failure.
constexpr Duration kStorePatience = std::chrono::milliseconds(250);

degrade::SpoolSettings spool_settings(const Config& config) {
  degrade::SpoolSettings settings;
  settings.directory = config.degrade.spool.empty()
                           ? std::filesystem::path(config.store.data_dir) / "degrade-spool"
                           : std::filesystem::path(config.degrade.spool);
  settings.bytes_max = config.degrade.spool_bytes;
  settings.segment_bytes = std::min(settings.segment_bytes, settings.bytes_max);
  return settings;
}

}  // namespace

std::vector<task::Kind> degrade_kinds_of(const Config& config) {
  std::vector<task::Kind> kinds;
  for (const auto& [name, kind] : config.kinds) {
    if (kind.degrade) kinds.emplace_back(name);
  }
  return kinds;
}

Result<> register_cleaning(const Config& config, engine::Node& node, store::OpenedStore& opened,
                           const Clock& clock, Log& log) {
  const std::vector<task::Kind> kinds = degrade_kinds_of(config);
  if (kinds.empty() || config.degrade.clean_when == kCleanNever) return {};
  Result<> handled =
      node.handle(degrade::kCleanKind, {},
                  degrade::cleaning_handler(opened, clock, log, config.degrade.clean_after));
  if (!handled) return handled;
  for (const task::Kind& kind : kinds) {
    auto schedule = degrade::cleaning_schedule(kind, config.degrade.clean_when);
    if (!schedule) return fail(schedule.error());
    if (Result<> added = node.schedule(*std::move(schedule)); !added) return added;
  }
  return {};
}

Result<std::unique_ptr<degrade::Recorder>> open_recorder(const Config& config,
                                                         const degrade::Recorder::Parts& parts) {
  if (degrade_kinds_of(config).empty()) return std::unique_ptr<degrade::Recorder>();
  auto spool = degrade::Spool::open(spool_settings(config));
  if (!spool) return fail(spool.error());
  return std::make_unique<degrade::Recorder>(parts, *std::move(spool), kStorePatience);
}

}  // namespace recourse::app
