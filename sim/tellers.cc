#include "sim/tellers.h"

#include <algorithm>
#include <utility>

#include "sim/world.h"

namespace recourse::sim {
namespace {

using namespace std::chrono_literals;

constexpr Duration kTellerCall = 5s;
constexpr std::size_t kTellers = 3;
constexpr std::size_t kTakenMax = 20;

notify::CaseBookSettings settings() {
  return {.reminders = {.interval = kReminderInterval},
          .hold = kCaseHold,
          .hold_max = 2min,
          .out_max = 200};
}

StoreCall a_call() {
  return {.verb = Verb::kCases, .outcomes = {}, .ordered = {}, .lose_reply = false, .wait = {}};
}

BootTime boot(TimePoint now) { return BootTime(now.time_since_epoch()); }

}  // namespace

void Tellers::begin() {
  for (std::size_t i = 0; i < kTellers; ++i) {
    tellers_.push_back({.book = notify::CaseBook(settings())});
    world_.schedule.after(5s, [this, i] { turn(i); });
  }
  world_.schedule.after(1min, [this] { people_take(); });
}

Tellers::Teller* Tellers::alive(std::size_t index, std::uint64_t life) {
  Teller& teller = tellers_[index];
  return teller.life == life ? &teller : nullptr;
}

void Tellers::turn(std::size_t index) {
  world_.schedule.after(world_.rng.between(Duration(2s), Duration(10s)),
                        [this, index] { turn(index); });
  Teller& teller = tellers_[index];
  if (world_.chance(0.02)) {
    world_.coverage.count(Fault::kTellerLost);
    teller = {.book = notify::CaseBook(settings()), .life = teller.life + 1};
    return;
  }
  if (teller.busy) return;
  teller.busy = true;
  auto batch = teller.book.to_put_off(boot(world_.schedule.now()));
  if (batch.empty()) {
    take(index);
  } else {
    put_off(index, std::move(batch));
  }
}

void Tellers::put_off(std::size_t index, std::vector<store::PutOff> batch) {
  using Ends = std::vector<std::optional<TimePoint>>;
  const auto kept = std::make_shared<std::vector<store::PutOff>>(std::move(batch));
  world_.network.ask<Ends, store::Cases>(
      {}, a_call(), kTellerCall,
      [this, kept](store::Cases& cases) {
        Result<Ends> ends = cases.put_off(*kept, kTellerCall);
        world_.cases_put_off(*kept, ends);
        return ends;
      },
      [this, index, kept, life = tellers_[index].life](const Result<Ends>& ends) {
        Teller* teller = alive(index, life);
        if (teller == nullptr) return;
        teller->book.put_off(*kept, ends, boot(world_.schedule.now()));
        teller->busy = false;
      });
}

void Tellers::take(std::size_t index) {
  const std::size_t limit = std::min(tellers_[index].book.room(), kTakenMax);
  if (limit == 0) {
    tellers_[index].busy = false;
    return;
  }
  world_.network.ask<store::DueCases, store::Cases>(
      {}, a_call(), kTellerCall,
      [this, limit](store::Cases& cases) {
        auto due = cases.take_due(limit, kCaseHold, kTellerCall);
        if (due) world_.cases_taken(due->items);
        return due;
      },
      [this, index, life = tellers_[index].life](const Result<store::DueCases>& due) {
        Teller* teller = alive(index, life);
        if (teller == nullptr) return;
        teller->busy = false;
        if (!due) return;
        const std::vector<bool> fresh = teller->book.taken(due->items, boot(world_.schedule.now()));
        for (std::size_t i = 0; i < fresh.size(); ++i) {
          if (fresh[i]) tell(index, due->items[i].held);
        }
      });
}

void Tellers::tell(std::size_t index, const store::Case& held) {
  const std::uint64_t life = tellers_[index].life;
  const bool fails = world_.chance(0.15);
  // Now and then for longer than the first hold.
  const Duration takes = world_.rng.fraction() < 0.1
                             ? world_.rng.between(Duration(20s), Duration(3min))
                             : world_.rng.between(Duration(10ms), Duration(5s));
  // As when it is quiet there, and the notifier says for how long.
  const Duration wait = fails && world_.chance(0.5)
                            ? world_.rng.between(Duration(1s), Duration(2min))
                            : Duration::zero();
  world_.schedule.after(takes, [this, index, life, fails, wait, held] {
    if (!fails) world_.case_told(held);
    if (Teller* teller = alive(index, life)) {
      teller->book.ended(notify::key_of(held), !fails, wait);
    }
  });
}

// Any open case, whoever has it.
void Tellers::people_take() {
  world_.schedule.after(world_.rng.between(Duration(20s), Duration(2min)),
                        [this] { people_take(); });
  const auto& open = world_.store.data().cases;
  if (world_.is_quiet() || open.empty()) return;
  const auto place = world_.rng.between(std::uint64_t{0}, std::uint64_t{open.size() - 1});
  const task::TaskId task = std::next(open.begin(), static_cast<std::ptrdiff_t>(place))->first;
  store::Assignment assignment;
  if (world_.rng.fraction() < 0.7) assignment.assignee = "alice";
  if (!assignment.assignee.empty() && world_.rng.fraction() < 0.5) {
    assignment.due = world_.schedule.now() + world_.rng.between(Duration(1s), Duration(5min));
  }
  using Items = std::vector<store::CaseItem>;
  world_.network.ask<Items, store::Cases>(
      {}, a_call(), kTellerCall,
      [this, task, assignment](store::Cases& cases) {
        // Told before it is done: the reply may be lost after the commit.
        const auto& now = world_.store.data().cases;
        if (const auto one = now.find(task); one != now.end()) world_.case_assigned(one->second);
        return cases.assign({&task, 1}, assignment, "bob", kTellerCall);
      },
      [](const Result<Items>&) {});
}

}  // namespace recourse::sim
