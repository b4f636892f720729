#include "guard/door.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace recourse::guard {

Door::~Door() { stop(Duration::zero()); }

Result<> Door::add(NewGuard guard) {
  const std::string& name = guard.table->settings().name;
  if (find(name) != nullptr) {
    return fail(
        ErrorCode::kInvalid,
        fmt::format("two guards are called {}: give one of them another name", shown(name)));
  }
  for (const auto& other : guards_) {
    if (guard.place != other->place()) continue;
    const Result<> fits = check_neighbours(other->settings(), guard.table->settings());
    if (!fits) return fits;
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
