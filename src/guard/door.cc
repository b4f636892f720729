#include "guard/door.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace recourse::guard {

namespace {

constexpr Duration kPlanPatience = std::chrono::seconds(5);

}  // namespace

Result<> prepare(GuardedTable& table, Duration within, Log& log) {
  const auto missing = table.plan(kPlanPatience);
  if (Result<> ensured = table.ensure(within); !ensured) return ensured;
  if (missing && missing->statements.empty()) return {};
  const auto left = table.plan(kPlanPatience);
  if (!left) return {};
  std::vector<std::string> ran = missing ? missing->statements : left->statements;
  std::erase_if(ran, [&](const std::string& one) {
    return std::ranges::find(left->statements, one) != left->statements.end();
  });
  const std::string& guard = table.settings().name;
  const std::string& name = table.settings().table;
  if (!ran.empty()) {
    log.info("guard_table_prepared",
             {{"guard", guard}, {"table", name}, {"ran", fmt::format("{}", fmt::join(ran, "; "))}});
  }
  if (!left->statements.empty()) {
    log.warning("guard_indexes_missing",
                {{"guard", guard},
                 {"table", name},
                 {"run", fmt::format("{}", fmt::join(left->statements, "; "))}});
  }
  return {};
}

Door::~Door() { stop(Duration::zero()); }

Result<> Door::add(NewGuard guard) {
  const std::string& name = guard.table->settings().name;
  if (find(name) != nullptr) {
    return fail(
        ErrorCode::kInvalid,
        fmt::format("two guards are called {}: give one of them another name", shown(name)));
  }
  for (const auto& other : guards_) {
    if (guard.place != other->place() || guard.table->settings().table != other->settings().table ||
        may_share_table(guard.table->settings(), other->settings())) {
      continue;
    }
    return fail(
        ErrorCode::kInvalid,
        fmt::format("{} and {} guard the same table {}, whose err_ columns are one error's: "
                    "what one heals, the other still had to; guard each status in a table "
                    "of its own",
                    shown(other->name()), shown(name), shown(other->settings().table)));
  }
  const engine::KindSettings kind = guard.kind;
  auto added = std::make_unique<Guard>(parts_, std::move(guard));
  if (Result<> registered = added->register_kind(kind); !registered) return registered;
  guards_.push_back(std::move(added));
  return {};
}

Guard* Door::find(std::string_view name) const {
  for (const auto& guard : guards_) {
    if (guard->name() == name) return guard.get();
  }
  return nullptr;
}

void Door::start() {
  for (const auto& guard : guards_) guard->start();
}

void Door::close() {
  for (const auto& guard : guards_) guard->close();
}

void Door::stop(Duration within) {
  const auto until = std::chrono::steady_clock::now() + std::min(within, kLongestWait);
  for (const auto& guard : guards_) {
    const auto left =
        std::chrono::duration_cast<Duration>(until - std::chrono::steady_clock::now());
    guard->stop(std::max(left, Duration::zero()));
  }
}

}  // namespace recourse::guard
