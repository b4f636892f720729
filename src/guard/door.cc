#include "guard/door.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/text.h"

namespace recourse::guard {

namespace {

constexpr Duration kPlanPatience = std::chrono::seconds(5);

}  // namespace

void warn_of_missing_indexes(GuardedTable& table, Log& log) {
  const auto left = table.plan(kPlanPatience);
  if (!left || left->statements.empty()) return;
  log.warning("guard_indexes_missing",
              {{"guard", table.settings().name},
               {"table", table.settings().table},
               {"run", fmt::format("{}", fmt::join(left->statements, "; "))}});
}

Door::~Door() { stop(Duration::zero()); }

Result<> Door::add(NewGuard guard, Duration within) {
  const std::string& name = guard.table->settings().name;
  if (find(name) != nullptr) {
    return fail(
        ErrorCode::kInvalid,
        fmt::format("two guards are called {}: give one of them another name", shown(name)));
  }
  if (Result<> ensured = guard.table->ensure(within); !ensured) return ensured;
  warn_of_missing_indexes(*guard.table, parts_.log);
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
