#include "app/doctor_guards.h"

#include <fmt/format.h>

#include "app/config/guard_words.h"
#include "app/doctor_kinds.h"
#include "app/guard_plan.h"

namespace recourse::app {
namespace {

constexpr Duration kLookWithin = std::chrono::seconds(10);

constexpr std::string_view kKeys = "its database, table and fields";

std::string remedy_of(const Error& error) {
  if (error.code == ErrorCode::kUnavailable) return remedy_by_keys("database", kKeys);
  return fmt::format("correct {}; the server does not start like this", kKeys);
}

void examine_table(const Config& config, const std::string& about, const GuardConfig& guard,
                   Findings& findings) {
  const auto table = open_guard_alone(config, guard);
  if (!table && table.error().code == ErrorCode::kExhausted) {
    return findings.doubtful(about, table.error().message,
                             "where that is your server, all is well: recourse doctor --server URL "
                             "asks it how the guard fares");
  }
  if (!table) {
    return findings.broken(about, in_words_of_file(table.error().message),
                           remedy_of(table.error()));
  }
  const auto plan = (*table)->plan(kLookWithin);
  if (!plan) return findings.broken(about, plan.error().message, remedy_of(plan.error()));
  if (plan->statements.empty()) {
    return findings.fine(about, guard.settings.table + " has all columns and indexes");
  }
  findings.doubtful(about,
                    fmt::format("{} misses columns or indexes; {} statements would add them",
                                guard.settings.table, plan->statements.size()),
                    "the server runs them when it starts; recourse guard plan prints them");
}

}  // namespace

void examine_guards(const Config& config, Findings& findings) {
  for (const auto& [name, guard] : config.guards) {
    const std::string about = "guard " + name;
    examine_table(config, about, guard, findings);
    const std::string key = fmt::format("guards.{}.", name);
    if (!guard.check.url.empty()) examine_url(about, key + "check", guard.check.url, findings);
    if (!guard.handle.url.empty()) examine_url(about, key + "handle", guard.handle.url, findings);
  }
}

}  // namespace recourse::app
