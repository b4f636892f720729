#include "notify/case_teller.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <utility>

#include "base/field_checks.h"
#include "base/thread_name.h"
#include "store/limits.h"

namespace recourse::notify {
namespace {

using namespace std::chrono_literals;

// Of one call to the store.
constexpr Duration kPatience = 10s;

// By the settings nobody is to be told: as good as told, or it would be asked for ever.
bool counts_as_told(Fate fate) { return fate == Fate::kDelivered || fate == Fate::kUnwanted; }

}  // namespace

Result<> validate(const TellerSettings& settings) {
  if (Result<> valid = validate(settings.book); !valid) return valid;
  return FieldChecks("reminders")
      .between<Duration>("look_every", settings.look_every, 100ms, 1h)
      .result();
}

CaseTeller::CaseTeller(store::Cases& cases, Fire fire, TellerSettings settings, const Clock& clock,
                       Log& log)
    : cases_(cases),
      fire_(std::move(fire)),
      settings_(std::move(settings)),
      clock_(clock),
      log_(log),
      desk_(std::make_shared<Desk>(settings_.book)),
      thread_([this] { run(); }) {}

void CaseTeller::stop() {
  {
    const MutexLock lock(desk_->mutex);
    desk_->stopping = true;
    desk_->changed.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void CaseTeller::hint() {
  const MutexLock lock(desk_->mutex);
  desk_->woken = true;
  desk_->changed.notify_all();
}

std::size_t CaseTeller::out() const {
  const MutexLock lock(desk_->mutex);
  return desk_->book.out();
}

void CaseTeller::run() {
  name_this_thread("case-teller");
  bool was_down = false;
  while (true) {
    {
      const MutexLock lock(desk_->mutex);
      if (desk_->stopping) return;
      desk_->woken = false;
    }
    const Result<bool> more = turn();
    if (!more && !std::exchange(was_down, true)) {
      const std::array<LogField, 1> fields{{{"error", more.error().message}}};
      log_.write(LogLevel::kWarning, "cases_unreachable", fields);
    }
    if (more) was_down = false;
    if (!more || !*more) wait();
  }
}

Result<bool> CaseTeller::turn() {
  if (Result<> done = put_off(); !done) return fail(done.error());
  return take();
}

Result<> CaseTeller::put_off() {
  while (true) {
    std::vector<store::PutOff> batch;
    {
      const MutexLock lock(desk_->mutex);
      if (desk_->stopping) return {};
      batch = desk_->book.to_put_off(clock_.since_boot());
    }
    if (batch.empty()) return {};
    const auto ends = cases_.put_off(batch, kPatience);
    const MutexLock lock(desk_->mutex);
    desk_->book.put_off(batch, ends, clock_.since_boot());
    if (!ends && ends.error().code != ErrorCode::kInDoubt) return fail(ends.error());
  }
}

Result<bool> CaseTeller::take() {
  std::size_t limit = 0;
  {
    const MutexLock lock(desk_->mutex);
    limit = std::min(desk_->book.room(), store::kPageRowsMax);
  }
  if (limit == 0) return false;
  const auto due = cases_.take_due(limit, settings_.book.hold, kPatience);
  if (!due) return fail(due.error());
  std::vector<bool> fresh;
  {
    const MutexLock lock(desk_->mutex);
    fresh = desk_->book.taken(due->items, clock_.since_boot());
  }
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    if (!fresh[i]) continue;
    const store::DueCase& one = due->items[i];
    // Ends on any thread, within fire() too.
    fire_(notice_of(one, settings_.sayer), [desk = desk_, key = key_of(one.held)](Fate fate) {
      const MutexLock lock(desk->mutex);
      desk->book.ended(key, counts_as_told(fate));
      desk->woken = true;
      desk->changed.notify_all();
    });
  }
  return due->items.size() == limit;
}

// Until something ends or is due, or it is time to look. A moment at least, so that what ends
// together is written together.
void CaseTeller::wait() {
  using SteadyClock = std::chrono::steady_clock;
  constexpr auto kMoment = 50ms;
  Desk& desk = *desk_;
  const MutexLock lock(desk.mutex);
  const auto moment = SteadyClock::now() + kMoment;
  while (!desk.stopping &&
         desk.changed.wait_until(desk.mutex, moment) == std::cv_status::no_timeout) {
  }
  Duration most = settings_.look_every;
  if (const auto next = desk.book.next_hold()) {
    most = std::clamp<Duration>(*next - clock_.since_boot(), kMoment, most);
  }
  const auto until = SteadyClock::now() + most;
  while (!desk.stopping && !desk.woken &&
         desk.changed.wait_until(desk.mutex, until) == std::cv_status::no_timeout) {
  }
}

}  // namespace recourse::notify
