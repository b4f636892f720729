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
      desk_(std::make_shared<Desk>(settings_.book)) {}

void CaseTeller::start() {
  const MutexLock lock(joining_);
  thread_ = std::thread([this] { run(); });
}

void CaseTeller::close() {
  const MutexLock lock(desk_->mutex);
  if (desk_->phase == Phase::kTelling) desk_->phase = Phase::kClosed;
}

void CaseTeller::stop(Duration within) {
  {
    const MutexLock lock(desk_->mutex);
    desk_->phase = Phase::kEnding;
    desk_->end_by =
        std::min(desk_->end_by, std::chrono::steady_clock::now() + std::min(within, kLongestWait));
    desk_->changed.notify_all();
  }
  const MutexLock lock(joining_);
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

bool CaseTeller::has_ended() {
  const MutexLock lock(desk_->mutex);
  desk_->woken = false;
  if (desk_->phase != Phase::kEnding) return false;
  return std::chrono::steady_clock::now() >= desk_->end_by ||
         desk_->book.ended_to_put_off().empty();
}

void CaseTeller::run() {
  name_this_thread("case-teller");
  bool was_down = false;
  while (!has_ended()) {
    const Result<bool> more = turn();
    if (!more && !std::exchange(was_down, true)) {
      const std::array<LogField, 1> fields{{{"error", more.error().message}}};
      log_.write(LogLevel::kWarning, "cases_unreachable", fields);
    }
    if (more) was_down = false;
    {
      const MutexLock lock(desk_->mutex);
      if (more) desk_->pace.succeeded();
      if (!more) desk_->pace.failed(clock_.since_boot());
      // A store that fails now is not waited for.
      if (!more && desk_->phase == Phase::kEnding) return;
    }
    if (!more || !*more) wait();
  }
}

Result<bool> CaseTeller::turn() {
  if (Result<> done = put_off(); !done) return fail(done.error());
  return take();
}

// At the end only what has ended: what is out is for others to tell, the sooner the better.
std::pair<std::vector<store::PutOff>, Duration> CaseTeller::to_put_off() {
  const MutexLock lock(desk_->mutex);
  if (desk_->phase != Phase::kEnding) {
    return {desk_->book.to_put_off(clock_.since_boot()), kPatience};
  }
  const auto left =
      std::chrono::duration_cast<Duration>(desk_->end_by - std::chrono::steady_clock::now());
  if (left <= Duration::zero()) return {};
  return {desk_->book.ended_to_put_off(), std::min(left, kPatience)};
}

Result<> CaseTeller::put_off() {
  while (true) {
    const auto [batch, patience] = to_put_off();
    if (batch.empty()) return {};
    const auto ends = cases_.put_off(batch, patience);
    const MutexLock lock(desk_->mutex);
    desk_->book.put_off(batch, ends, clock_.since_boot());
    if (!ends && ends.error().code != ErrorCode::kInDoubt) return fail(ends.error());
  }
}

Result<bool> CaseTeller::take() {
  std::size_t limit = 0;
  {
    const MutexLock lock(desk_->mutex);
    if (desk_->phase != Phase::kTelling) return false;
    limit = std::min(desk_->book.room(), store::kPageRowsMax);
  }
  if (limit == 0) return false;
  const auto due = cases_.take_due(limit, settings_.book.hold, kPatience);
  if (!due) return fail(due.error());
  std::vector<bool> fresh;
  {
    const MutexLock lock(desk_->mutex);
    // Nobody would tell these any more: they come back when their hold is over.
    if (desk_->phase != Phase::kTelling) return false;
    fresh = desk_->book.taken(due->items, clock_.since_boot());
  }
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    if (!fresh[i]) continue;
    const store::DueCase& one = due->items[i];
    // Ends on any thread, within fire() too.
    fire_(notice_of(one, settings_.sayer),
          [desk = desk_, key = key_of(one.held)](const Ending& end) {
            const MutexLock lock(desk->mutex);
            desk->book.ended(key, counts_as_told(end.fate), end.wait);
            desk->woken = true;
            desk->changed.notify_all();
          });
  }
  return due->items.size() == limit;
}

void CaseTeller::wait_out_the_pause(Desk& desk, const Clock& clock) {
  while (desk.phase != Phase::kEnding) {
    const Duration left = desk.pace.left(clock.since_boot());
    if (left <= Duration::zero()) return;
    desk.changed.wait_until(desk.mutex, std::chrono::steady_clock::now() + left);
  }
}

// Until something ends or is due, or it is time to look. A moment at least, so that what ends
// together is written together.
void CaseTeller::wait() {
  using SteadyClock = std::chrono::steady_clock;
  constexpr auto kMoment = 50ms;
  Desk& desk = *desk_;
  const MutexLock lock(desk.mutex);
  const auto moment = SteadyClock::now() + kMoment;
  while (desk.phase != Phase::kEnding &&
         desk.changed.wait_until(desk.mutex, moment) == std::cv_status::no_timeout) {
  }
  if (desk.pace.left(clock_.since_boot()) > Duration::zero()) {
    return wait_out_the_pause(desk, clock_);
  }
  Duration most = settings_.look_every;
  if (const auto next = desk.book.next_hold()) {
    most = std::clamp<Duration>(*next - clock_.since_boot(), kMoment, most);
  }
  const auto until = SteadyClock::now() + most;
  while (desk.phase != Phase::kEnding && !desk.woken &&
         desk.changed.wait_until(desk.mutex, until) == std::cv_status::no_timeout) {
  }
}

}  // namespace recourse::notify
