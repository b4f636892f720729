#include "notify/case_book.h"

#include <algorithm>

#include "base/field_checks.h"
#include "base/planted_bug.h"
#include "store/limits.h"

namespace recourse::notify {
namespace {

// A filter may say never; a person who waits for a case is asked about every day all the same.
constexpr Duration kWaitMax = std::chrono::hours(24);

// From the record on, which comes after the telling: never early.
Duration until_next(const policy::ReminderSettings& settings, int sent) {
  if (planted(PlantedBug::kReminderTooSoon)) return settings.interval;
  return policy::next_reminder(settings, TimePoint(), sent) - TimePoint();
}

}  // namespace

Result<> validate(const CaseBookSettings& settings) {
  using namespace std::chrono_literals;
  if (Result<> valid = policy::validate(settings.reminders); !valid) return valid;
  return FieldChecks("reminders")
      .between<Duration>("hold", settings.hold, 1s, 1h)
      .between<Duration>("hold_max", settings.hold_max, settings.hold, 24h)
      .between<std::size_t>("out_max", settings.out_max, 1, 100'000)
      .result();
}

std::size_t CaseBook::room() const {
  return settings_.out_max - std::min(settings_.out_max, out_.size());
}

std::vector<bool> CaseBook::taken(std::span<const store::DueCase> due, BootTime now) {
  std::vector<bool> fresh;
  for (const store::DueCase& one : due) {
    const auto [entry, is_new] = out_.try_emplace(key_of(one.held));
    // Held too briefly, and taken again by this very node: it is being told already.
    fresh.push_back(is_new);
    entry->second.held = one.held;
    entry->second.hold = settings_.hold;
    entry->second.renew_at = now + settings_.hold / 2;
  }
  return fresh;
}

void CaseBook::ended(const CaseKey& key, bool told, Duration wait) {
  const auto found = out_.find(key);
  if (found == out_.end()) return;
  found->second.told = told;
  found->second.wait = std::min(wait, kWaitMax);
}

Duration CaseBook::wait_of(const Out& out) const {
  // Not back before its hold would have ended: until then it is in one hand.
  if (out.told && out.wait > Duration::zero()) return std::max(out.wait, out.hold);
  return std::min(out.hold * 2, settings_.hold_max);
}

store::PutOff CaseBook::put_off_of(const Out& out) const {
  const bool told = out.told.value_or(planted(PlantedBug::kToldWhenTaken));
  return {.held = out.held,
          .wait = told ? until_next(settings_.reminders, out.held.reminders) : wait_of(out),
          .told = told};
}

std::vector<store::PutOff> CaseBook::batch_of(std::optional<BootTime> now) const {
  std::vector<store::PutOff> batch;
  for (const auto& [key, out] : out_) {
    if (batch.size() == store::kBatchRowsMax) break;
    const bool is_renewed = now && out.renew_at <= *now;
    if (out.told || is_renewed || planted(PlantedBug::kToldWhenTaken))
      batch.push_back(put_off_of(out));
  }
  return batch;
}

std::vector<store::PutOff> CaseBook::to_put_off(BootTime now) const { return batch_of(now); }

std::vector<store::PutOff> CaseBook::ended_to_put_off() const { return batch_of(std::nullopt); }

void CaseBook::put_off(std::span<const store::PutOff> batch,
                       const Result<std::vector<std::optional<TimePoint>>>& ends, BootTime now) {
  if (!ends && ends.error().code != ErrorCode::kInDoubt) return;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const auto found = out_.find(key_of(batch[i].held));
    if (found == out_.end()) continue;
    Out& out = found->second;
    const std::optional<TimePoint> end = ends ? (*ends)[i] : std::nullopt;
    // In doubt, or changed by somebody: what is true is in the store, and comes back from there.
    // Held for longer while it ended: told with the next batch, under the new hold.
    const bool was_end = out.told && batch[i].told == *out.told;
    if (!end || was_end) {
      out_.erase(found);
      continue;
    }
    out.held.remind_at = end;
    out.hold = batch[i].wait;
    out.renew_at = now + out.hold / 2;
  }
}

std::optional<BootTime> CaseBook::next_hold() const {
  std::optional<BootTime> next;
  for (const auto& [key, out] : out_) {
    if (!next || out.renew_at < *next) next = out.renew_at;
  }
  return next;
}

}  // namespace recourse::notify
