#include "app/guard_door.h"

#include <fmt/format.h>

#include <utility>

#include "app/guard_calls.h"
#include "embed/open_guarded.h"

namespace recourse::app {
namespace {

constexpr Duration kOpenWithin = std::chrono::seconds(10);
// Columns and indexes of a large table.
constexpr Duration kAddWithin = std::chrono::minutes(10);

Error of_guard(const std::string& name, const Error& error) {
  return {error.code, fmt::format("guards.{}: {}", name, error.message)};
}

struct Place {
  const embed::OwnStore store;
  // Tables of one database share its connections.
  guard::Databases databases = {};
};

Result<> add_guard(guard::Door& door, Place& place, const GuardConfig& guard, http::Client& client,
                   const Clock& clock) {
  auto table = embed::open_guarded(place.databases, guard.database.reveal(), place.store,
                                   guard.settings, kOpenWithin);
  if (!table) return fail(table.error());
  auto handlers = guard_calls(guard, **table, client, clock);
  if (!handlers) return fail(handlers.error());
  return door.add(
      {.table = *std::move(table), .handlers = *std::move(handlers), .kind = guard.lane},
      kAddWithin);
}

}  // namespace

Result<> check_guards(const Config& config) {
  for (const auto& [name, guard] : config.guards) {
    if (const Result<> valid = check_guard_calls(guard); !valid) {
      return fail(of_guard(name, valid.error()));
    }
  }
  return {};
}

Result<std::unique_ptr<guard::Door>> open_guard_door(const Config& config,
                                                     const guard::GuardParts& parts,
                                                     http::Client& client) {
  if (config.guards.empty()) return std::unique_ptr<guard::Door>();
  auto door = std::make_unique<guard::Door>(parts);
  Place place{{.url = config.store.url.reveal(), .opened = parts.opened}};
  for (const auto& [name, guard] : config.guards) {
    if (const Result<> added = add_guard(*door, place, guard, client, parts.clock); !added) {
      return fail(of_guard(name, added.error()));
    }
  }
  return door;
}

}  // namespace recourse::app
