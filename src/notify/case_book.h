// What one node has out of the cases that people are to be told of: which it holds, for how long,
// and what became of each. Pure: whoever owns it asks the store and tells people.
//
// The cases in the store are the outbox: one is taken, told, and only then put off until its next
// reminder. Whoever dies in between had only held it, and it comes back. So every case is told at
// least once; twice where a crash comes between the telling and its record.
//
// Invariants
//   1. A reminder is counted only when people were told.
//   2. No reminder comes before its interval, however often nodes start and stop.
//   3. What is out is bounded, and held for as long as it is out: no other node tells it meanwhile.
//      What has to wait for hours is not out.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "policy/reminder_ladder.h"
#include "store/cases.h"

namespace recourse::notify {

struct CaseBookSettings {
  policy::ReminderSettings reminders = {};
  // How long a case that is out is held at first. It doubles with every time that it is held for
  // longer, as through quiet hours.
  Duration hold = std::chrono::seconds(60);
  Duration hold_max = std::chrono::minutes(10);
  // Cases out at once.
  std::size_t out_max = 10'000;
};

Result<> validate(const CaseBookSettings& settings);

// Which telling it is. One of an earlier reminder may end late, when the case is out again for the
// next: it says nothing of that.
struct CaseKey {
  task::TaskId task;
  task::Fence fence;  // another escalation of the same task is another case
  int reminders = 0;

  friend auto operator<=>(const CaseKey&, const CaseKey&) = default;
};

constexpr CaseKey key_of(const store::Case& one) { return {one.task, one.fence, one.reminders}; }

class CaseBook {
 public:
  // The settings must be valid.
  explicit CaseBook(const CaseBookSettings& settings) : settings_(settings) {}

  [[nodiscard]] const CaseBookSettings& settings() const { return settings_; }
  [[nodiscard]] std::size_t out() const { return out_.size(); }
  // How many may be taken now.
  [[nodiscard]] std::size_t room() const;

  // They were taken, for settings().hold. True for each that is to be told; the others are out
  // already.
  std::vector<bool> taken(std::span<const store::DueCase> due, BootTime now);
  // People were told, or could not be: then they can be, for all that is known, after `wait`.
  // Nothing: after a longer hold.
  void ended(const CaseKey& key, bool told, Duration wait = Duration::zero());

  // What is to be written, a batch of it: what has ended, and what is out for so long that its hold
  // would end. Empty: nothing.
  [[nodiscard]] std::vector<store::PutOff> to_put_off(BootTime now) const;
  // Without the second: for one who stops, and holds nothing from others for longer.
  [[nodiscard]] std::vector<store::PutOff> ended_to_put_off() const;
  // How the store answered; kInDoubt is an answer too, other errors are to be tried again.
  void put_off(std::span<const store::PutOff> batch,
               const Result<std::vector<std::optional<TimePoint>>>& ends, BootTime now);
  // When to_put_off will have something, where nothing ends before.
  [[nodiscard]] std::optional<BootTime> next_hold() const;

 private:
  struct Out {
    store::Case held;
    Duration hold{};
    BootTime renew_at{};
    // Empty while it is out.
    std::optional<bool> told = std::nullopt;
    Duration wait{};
  };

  // Of what was not told.
  [[nodiscard]] Duration wait_of(const Out& out) const;
  [[nodiscard]] store::PutOff put_off_of(const Out& out) const;
  // What has ended, and what is to be held for longer by then.
  [[nodiscard]] std::vector<store::PutOff> batch_of(std::optional<BootTime> now) const;

  CaseBookSettings settings_;
  std::map<CaseKey, Out> out_;
};

}  // namespace recourse::notify
