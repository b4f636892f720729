#include "app/guard_door.h"

#include <fmt/format.h>

#include <utility>

#include "app/config/guard_words.h"
#include "app/guard_calls.h"
#include "embed/open_guarded.h"
#include "guard/late_table.h"

namespace recourse::app {
namespace {

constexpr Duration kOpenWithin = std::chrono::seconds(10);
// Columns and indexes of a large table.
constexpr Duration kAddWithin = std::chrono::minutes(10);
// The same on a scan's thread, which a stop waits for.
constexpr Duration kOpenLateWithin = std::chrono::seconds(5);
constexpr Duration kAddLateWithin = std::chrono::seconds(20);

Error of_guard(const std::string& name, const Error& error) {
  return {error.code, fmt::format("guards.{}: {}", name, in_words_of_file(error.message))};
}

struct Place {
  const embed::OwnStore store;
  // Tables of one database share its connections.
  guard::Databases databases = {};
};

using Table = std::unique_ptr<guard::GuardedTable>;

// Its database does not answer: the guard begins without it, and the others work.
Table open_later(const GuardConfig& guard, const Place& place, const Error& why,
                 const guard::GuardParts& parts) {
  parts.log.error(
      "guard_not_ready",
      {{"guard", guard.settings.name}, {"table", guard.settings.table}, {"error", why.message}});
  auto open = [url = guard.database, store = place.store, settings = guard.settings,
               &log = parts.log]() -> Result<Table> {
    guard::Databases databases;
    auto table = embed::open_guarded(databases, url.reveal(), store, settings, kOpenLateWithin);
    if (!table) return fail(table.error().code, in_words_of_file(table.error().message));
    if (const Result<> added = (*table)->ensure(kAddLateWithin); !added) return fail(added.error());
    guard::warn_of_missing_indexes(**table, log);
    return table;
  };
  return std::make_unique<guard::LateTable>(guard.settings, std::move(open), why, parts.clock,
                                            parts.log);
}

Result<Table> open_table(const GuardConfig& guard, Place& place, const guard::GuardParts& parts) {
  auto table = embed::open_guarded(place.databases, guard.database.reveal(), place.store,
                                   guard.settings, kOpenWithin);
  if (!table && table.error().code == ErrorCode::kUnavailable) {
    return open_later(guard, place, table.error(), parts);
  }
  if (!table) return table;
  const Result<> added = (*table)->ensure(kAddWithin);
  if (added) return table;
  if (added.error().code != ErrorCode::kUnavailable) return fail(added.error());
  return open_later(guard, place, added.error(), parts);
}

Result<> add_guard(guard::Door& door, Place& place, const GuardConfig& guard, http::Client& client,
                   const guard::GuardParts& parts) {
  auto table = open_table(guard, place, parts);
  if (!table) return fail(table.error());
  auto handlers = guard_calls(guard, **table, client, parts.clock);
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
    if (const Result<> added = add_guard(*door, place, guard, client, parts); !added) {
      return fail(of_guard(name, added.error()));
    }
  }
  return door;
}

}  // namespace recourse::app
