#include "guard/reminders.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace recourse::guard {
namespace {

using SteadyClock = std::chrono::steady_clock;

// How long a row is kept from other nodes while people are being told. It doubles with every time
// that it is held for longer.
constexpr Duration kHold = std::chrono::seconds(60);
constexpr Duration kHoldMax = std::chrono::minutes(10);
// A filter may say never; a person who waits is asked about every day all the same.
constexpr Duration kWaitMax = std::chrono::hours(24);
constexpr std::size_t kRemindedAtOnce = 100;
constexpr std::size_t kOutMax = 1'000;
constexpr std::size_t kErrorsMax = 1'000;
// Of one row's write: one that somebody has locked for long keeps no other waiting.
constexpr Duration kRowPatience = std::chrono::seconds(2);

// Of one row alone: the others may well be written.
bool is_its_own(const Error& error) {
  return error.code == ErrorCode::kExhausted || error.code == ErrorCode::kInvalid;
}

std::int64_t seconds_of(const std::optional<TimePoint>& time) {
  if (!time) return 0;
  return std::chrono::duration_cast<std::chrono::seconds>(time->time_since_epoch()).count();
}

}  // namespace

// Its first error and its count: a second error of the same row is another story.
std::string reminder_id(const GuardSettings& settings, const Row& row) {
  return fmt::format("grd-{}-{}-{}-{}", settings.name, to_string(row.id),
                     seconds_of(row.start_time), row.notify_count);
}

void tell_log(Log& log, const Reminder& reminder, const Told& told) {
  log.warning("guard_row_waits_for_person",
              {{"guard", reminder.settings.name},
               {"service", reminder.settings.service_name},
               {"table", reminder.settings.table},
               {"row", to_string(reminder.row.id)},
               {"reminder", std::to_string(reminder.row.notify_count)},
               {"error", reminder.error}});
  told({.fate = Telling::Fate::kTold});
}

Reminders::Reminders(GuardedTable& table, task::Kind kind, Tell tell, Tally& tally, Log& log,
                     std::shared_ptr<Desk> desk)
    : table_(table),
      kind_(std::move(kind)),
      tell_(std::move(tell)),
      tally_(tally),
      log_(log),
      desk_(std::move(desk)) {}

void Reminders::remember(const RowId& id, const std::string& error) {
  const MutexLock lock(mutex_);
  if (errors_.size() >= kErrorsMax) errors_.clear();
  errors_.insert_or_assign(to_string(id), error);
}

std::string Reminders::error_of(const RowId& id) {
  const MutexLock lock(mutex_);
  const auto found = errors_.find(to_string(id));
  return found == errors_.end() ? "" : found->second;
}

Result<std::int64_t> Reminders::tell_due(Duration within) {
  std::int64_t told = 0;
  while (true) {
    std::size_t room = 0;
    {
      const MutexLock lock(desk_->mutex);
      if (desk_->phase != Desk::Phase::kScanning) return told;
      room = kOutMax - std::min(kOutMax, desk_->out.size());
    }
    const std::size_t limit = std::min(room, kRemindedAtOnce);
    if (limit == 0) return told;
    const auto taken = table_.take_reminders(limit, kHold, within);
    if (!taken) return fail(taken.error());
    for (const ReminderClaim& claim : *taken) tell(claim);
    told += static_cast<std::int64_t>(taken->size());
    if (taken->size() < limit) return told;
  }
}

bool Reminders::is_new(const std::string& id, const ReminderClaim& claim) {
  const MutexLock lock(desk_->mutex);
  const auto [entry, is_new] = desk_->out.try_emplace(id);
  entry->second.claim = claim;
  entry->second.hold = kHold;
  entry->second.renew_at = SteadyClock::now() + kHold / 2;
  return is_new;
}

void Reminders::tell(const ReminderClaim& claim) {
  Reminder reminder{.settings = table_.settings(),
                    .kind = kind_,
                    .row = claim.row,
                    .id = reminder_id(table_.settings(), claim.row),
                    .error = error_of(claim.row.id),
                    .manual_success_route = table_.settings().manual_success_route};
  if (!is_new(reminder.id, claim)) return;
  Told told = [desk = desk_, id = reminder.id](const Telling& telling) {
    const MutexLock lock(desk->mutex);
    const auto found = desk->out.find(id);
    if (found == desk->out.end() || found->second.ended) return;
    found->second.ended = telling;
    ++desk->ended;
    desk->changed.notify_all();
  };
  if (tell_) {
    tell_(reminder, std::move(told));
  } else {
    tell_log(log_, reminder, told);
  }
}

Result<> Reminders::write_ended(Duration within) {
  std::vector<std::pair<std::string, Desk::Out>> ended;
  {
    const MutexLock lock(desk_->mutex);
    if (desk_->ended == 0) return {};
    for (const auto& one : desk_->out) {
      if (one.second.ended) ended.push_back(one);
    }
  }
  const auto until = SteadyClock::now() + within;
  Result<> first;
  for (auto& [id, out] : ended) {
    const auto left = std::chrono::duration_cast<Duration>(until - SteadyClock::now());
    if (left <= Duration::zero()) return fail(ErrorCode::kUnavailable, "there was no time left");
    const Result<bool> written = write(out, std::min(left, kRowPatience));
    if (written) {
      forget(id);
      continue;
    }
    if (first) first = fail(written.error());
    if (!is_its_own(written.error())) return first;
  }
  return first;
}

Result<bool> Reminders::write(Desk::Out& out, Duration within) {
  const bool is_later = out.ended->fate == Telling::Fate::kLater;
  const bool sent = out.ended->fate == Telling::Fate::kTold;
  // Not back before its hold would have ended: until then it is in one hand.
  const Duration wait = std::clamp(out.ended->wait, out.hold, kWaitMax);
  const Result<bool> written =
      is_later ? table_.put_off(out.claim, wait, within) : table_.reminded(out.claim, sent, within);
  if (!written) return written;
  if (*written && !is_later) ++(sent ? tally_.reminded : tally_.reminders_failed);
  log_.info(is_later ? "guard_reminder_put_off" : "guard_row_reminded",
            {{"guard", table_.settings().name},
             {"row", to_string(out.claim.row.id)},
             {"sent", sent ? "true" : "false"},
             {"written", *written ? "true" : "false"}});
  return written;
}

void Reminders::forget(const std::string& id) {
  const MutexLock lock(desk_->mutex);
  const auto found = desk_->out.find(id);
  if (found == desk_->out.end()) return;
  if (found->second.ended) --desk_->ended;
  desk_->out.erase(found);
}

Result<> Reminders::hold_longer(SteadyTime now, Duration within) {
  std::vector<std::pair<std::string, Desk::Out>> ending;
  {
    const MutexLock lock(desk_->mutex);
    for (const auto& one : desk_->out) {
      if (one.second.renew_at <= now) ending.push_back(one);
    }
  }
  const auto until = SteadyClock::now() + within;
  Result<> first;
  for (auto& [id, out] : ending) {
    const auto left = std::chrono::duration_cast<Duration>(until - SteadyClock::now());
    if (left <= Duration::zero()) return fail(ErrorCode::kUnavailable, "there was no time left");
    const Duration hold = std::min(out.hold * 2, kHoldMax);
    const Result<bool> held = table_.put_off(out.claim, hold, std::min(left, kRowPatience));
    if (!held) {
      if (first) first = fail(held.error());
      if (!is_its_own(held.error())) return first;
      continue;
    }
    // Somebody else's by now, or it needs nobody any more.
    if (!*held) {
      forget(id);
      continue;
    }
    const MutexLock lock(desk_->mutex);
    const auto found = desk_->out.find(id);
    if (found == desk_->out.end()) continue;
    found->second.claim = out.claim;
    found->second.hold = hold;
    found->second.renew_at = now + hold / 2;
  }
  return first;
}

}  // namespace recourse::guard
