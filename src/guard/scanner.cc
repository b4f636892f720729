#include "guard/scanner.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/duration_text.h"
#include "base/thread_name.h"

namespace recourse::guard {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr Duration kTellPatience = 10s;
// After a scan that failed, where the period is longer.
constexpr Duration kAgainIn = 5s;
// Before a write that failed is repeated.
constexpr Duration kWriteAgainIn = 1s;

Scan::Parts reporting_to(Scan::Parts parts, Scanner& scanner) {
  parts.escalated = [&scanner](const RowId& id, const std::string& error) {
    scanner.escalated(id, error);
  };
  parts.is_stopping = [&scanner] { return scanner.is_stopping(); };
  return parts;
}

}  // namespace

Scanner::Scanner(Scan::Parts parts, Tell tell)
    : steps_(reporting_to(parts, *this)),
      desk_(std::make_shared<Desk>()),
      table_(parts.table),
      tally_(parts.tally),
      log_(parts.log),
      reminders_(parts.table, parts.kind, std::move(tell), parts.tally, parts.log, desk_) {}

void Scanner::start(Duration first_scan_in) {
  const MutexLock lock(joining_);
  next_scan_ = SteadyClock::now() + first_scan_in;
  thread_ = std::thread([this] { run(); });
}

void Scanner::close() {
  const MutexLock lock(desk_->mutex);
  if (desk_->phase == Desk::Phase::kScanning) desk_->phase = Desk::Phase::kClosed;
  desk_->changed.notify_all();
}

void Scanner::stop(Duration within) {
  {
    const MutexLock lock(desk_->mutex);
    desk_->phase = Desk::Phase::kEnding;
    desk_->end_by = std::min(desk_->end_by, SteadyClock::now() + std::min(within, kLongestWait));
    desk_->changed.notify_all();
  }
  const MutexLock lock(joining_);
  if (thread_.joinable()) thread_.join();
}

bool Scanner::is_stopping() {
  const MutexLock lock(desk_->mutex);
  return desk_->phase != Desk::Phase::kScanning;
}

void Scanner::escalated(const RowId& id, const std::string& error) {
  reminders_.remember(id, error);
  const MutexLock lock(desk_->mutex);
  desk_->remind = true;
  desk_->changed.notify_all();
}

Result<ScanReport> Scanner::scan_now(Duration within) {
  const auto until = SteadyClock::now() + std::min(within, kLongestWait);
  const MutexLock lock(desk_->mutex);
  const std::uint64_t wanted = ++desk_->wanted;
  desk_->changed.notify_all();
  while (desk_->scanned < wanted) {
    if (desk_->phase != Desk::Phase::kScanning) {
      return fail(ErrorCode::kUnavailable, "the guard has been stopped");
    }
    if (desk_->changed.wait_until(desk_->mutex, until) == std::cv_status::timeout &&
        desk_->scanned < wanted) {
      return fail(ErrorCode::kUnavailable, "the scan has not ended in time; it goes on");
    }
  }
  return desk_->last;
}

void Scanner::scan_soon() {
  const MutexLock lock(desk_->mutex);
  ++desk_->wanted;
  desk_->changed.notify_all();
}

std::string Scanner::trouble() const {
  const MutexLock lock(desk_->mutex);
  return desk_->last ? "" : desk_->last.error().message;
}

void Scanner::run() {
  name_this_thread("guard-scan");
  while (true) {
    switch (next_work()) {
      case Work::kWriteEnded: write_ended(kTellPatience); break;
      case Work::kHold: hold_longer(); break;
      case Work::kScan: scan(); break;
      case Work::kRemind: remind(); break;
      case Work::kEnd: {
        const auto left = [&] {
          const MutexLock lock(desk_->mutex);
          return std::chrono::duration_cast<Duration>(desk_->end_by - SteadyClock::now());
        }();
        return write_ended(std::min(left, kTellPatience));
      }
    }
  }
}

Scanner::Work Scanner::next_work() {
  const MutexLock lock(desk_->mutex);
  while (true) {
    const SteadyTime now = SteadyClock::now();
    SteadyTime until = SteadyTime::max();
    if (desk_->phase == Desk::Phase::kEnding) return Work::kEnd;
    if (desk_->ended > 0) {
      if (now >= next_write_) return Work::kWriteEnded;
      until = next_write_;
    }
    if (const auto hold = desk_->next_hold()) {
      const SteadyTime at = std::max(*hold, next_write_);
      if (now >= at) return Work::kHold;
      until = std::min(until, at);
    }
    if (desk_->phase == Desk::Phase::kScanning) {
      if (now >= next_scan_ || desk_->wanted != desk_->scanned) return Work::kScan;
      if (std::exchange(desk_->remind, false)) return Work::kRemind;
      until = std::min(until, next_scan_);
    }
    if (until == SteadyTime::max()) {
      desk_->changed.wait(desk_->mutex);
    } else {
      desk_->changed.wait_until(desk_->mutex, until);
    }
  }
}

void Scanner::scan() {
  const std::uint64_t wanted = [&] {
    const MutexLock lock(desk_->mutex);
    return desk_->wanted;
  }();
  const Result<ScanReport> done = all_steps();
  next_scan_ = SteadyClock::now() + scanned(done);
  const MutexLock lock(desk_->mutex);
  desk_->scanned = wanted;
  desk_->last = done;
  desk_->changed.notify_all();
}

Result<ScanReport> Scanner::all_steps() {
  const auto begun = SteadyClock::now();
  ScanReport report;
  Result<> steps = steps_.run(report);
  if (steps || steps.error().code != ErrorCode::kUnavailable) {
    const auto told = reminders_.tell_due(kTellPatience);
    if (told) report.reminders = *told;
    if (!told && steps) steps = fail(told.error());
  }
  tell_refusal();
  report.took = std::chrono::duration_cast<Duration>(SteadyClock::now() - begun);
  ++tally_.scans;
  tally_.scan_time += report.took.count();
  if (!steps) return fail(steps.error());
  steps_.count_rows();
  return report;
}

void Scanner::tell_refusal() {
  const std::optional<Refusal> refusal = table_.take_refusal();
  if (!refusal) return;
  log_.error("guard_row_refused", {{"guard", table_.settings().name},
                                   {"table", table_.settings().table},
                                   {"row", to_string(refusal->row)},
                                   {"error", refusal->error.message}});
}

void Scanner::remind() {
  const auto told = reminders_.tell_due(kTellPatience);
  if (told) return;
  // The next scan tells what this one could not.
  log_.warning("guard_reminders_failed",
               {{"guard", table_.settings().name}, {"error", told.error().message}});
}

Duration Scanner::scanned(const Result<ScanReport>& done) {
  const GuardSettings& settings = table_.settings();
  if (!done) {
    ++tally_.scans_failed;
    if (!std::exchange(was_down_, true)) {
      log_.error(
          "guard_scan_failed",
          {{"guard", settings.name}, {"table", settings.table}, {"error", done.error().message}});
    }
    return std::min(settings.scan_every, kAgainIn);
  }
  if (std::exchange(was_down_, false))
    log_.info("guard_scan_works_again", {{"guard", settings.name}});
  const bool did_something =
      done->got_start_time + done->healed + done->submitted + done->escalated + done->reminders > 0;
  const std::array<LogField, 8> fields{{{"guard", settings.name},
                                        {"got_start_time", std::to_string(done->got_start_time)},
                                        {"healed", std::to_string(done->healed)},
                                        {"due", std::to_string(done->due)},
                                        {"submitted", std::to_string(done->submitted)},
                                        {"escalated", std::to_string(done->escalated)},
                                        {"reminders", std::to_string(done->reminders)},
                                        {"took", format_duration(done->took)}}};
  log_.write(did_something ? LogLevel::kInfo : LogLevel::kDebug, "guard_scanned", fields);
  return settings.scan_every;
}

void Scanner::write_ended(Duration within) { wrote(reminders_.write_ended(within)); }

void Scanner::hold_longer() { wrote(reminders_.hold_longer(SteadyClock::now(), kTellPatience)); }

void Scanner::wrote(const Result<>& written) {
  if (written) return;
  next_write_ = SteadyClock::now() + kWriteAgainIn;
  log_.warning("guard_reminders_not_written",
               {{"guard", table_.settings().name}, {"error", written.error().message}});
}

}  // namespace recourse::guard
