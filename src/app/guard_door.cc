#include "app/guard_door.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "app/config/guard_words.h"
#include "app/guard_calls.h"
#include "embed/open_guarded.h"

namespace recourse::app {
namespace {

Error of_guard(const std::string& name, const Error& error) {
  return {error.code, fmt::format("guards.{}: {}", name, in_words_of_file(error.message))};
}

std::string place_of(const Config& config, const GuardConfig& guard) {
  return embed::place_of_guarded(guard.database.reveal(), config.store.url.reveal());
}

Result<> add_guard(guard::Door& door, const GuardConfig& guard, const embed::GuardedParts& parts,
                   http::Client& client) {
  auto table =
      embed::open_guarded({.database = guard.database.reveal(), .settings = guard.settings}, parts);
  if (!table) return fail(table.error());
  auto handlers = guard_calls(guard, **table, client, parts.clock);
  if (!handlers) return fail(handlers.error());
  return door.add({.table = *std::move(table),
                   .handlers = *std::move(handlers),
                   .place = embed::place_of_guarded(guard.database.reveal(), parts.own.url),
                   .kind = guard.lane});
}

}  // namespace

Result<> check_guards(const Config& config) {
  for (const auto& [name, guard] : config.guards) {
    if (const Result<> valid = check_guard_calls(guard); !valid) {
      return fail(of_guard(name, valid.error()));
    }
    const auto place = place_of(config, guard);
    for (auto other = config.guards.begin(); other->first != name; ++other) {
      if (place_of(config, other->second) != place) continue;
      const Result<> fits = guard::check_neighbours(guard::named(other->second.settings),
                                                    guard::named(guard.settings));
      if (!fits) return fail(of_guard(name, fits.error()));
    }
  }
  return {};
}

Result<std::unique_ptr<guard::Door>> open_guard_door(const Config& config,
                                                     const guard::GuardParts& parts,
                                                     http::Client& client) {
  if (config.guards.empty()) return std::unique_ptr<guard::Door>();
  auto door = std::make_unique<guard::Door>(parts);
  const embed::GuardedParts guarded{
      .databases = std::make_shared<guard::Databases>(),
      .own = {.url = config.store.url.reveal(), .opened = parts.opened},
      .clock = parts.clock,
      .log = parts.log,
      .in_words = in_words_of_file};
  for (const auto& [name, guard] : config.guards) {
    if (const Result<> added = add_guard(*door, guard, guarded, client); !added) {
      return fail(of_guard(name, added.error()));
    }
  }
  return door;
}

}  // namespace recourse::app
