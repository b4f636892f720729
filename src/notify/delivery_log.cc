#include "notify/delivery_log.h"

#include <algorithm>
#include <utility>

#include "base/thread_name.h"
#include "notify/delivery_page.h"

namespace recourse::notify {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr Duration kPageWithin = std::chrono::seconds(3);
constexpr Duration kLongestRest = std::chrono::seconds(30);
constexpr Duration kLastPageWithin = std::chrono::seconds(1);

}  // namespace

Duration rest_after(std::size_t bytes, const DeliveryLogSettings& settings) {
  const Duration fair(static_cast<Duration::rep>(bytes * 1'000'000 / settings.bytes_per_second));
  return std::max(settings.write_every, fair);
}

Duration rest_after_failures(int failures, const DeliveryLogSettings& settings) {
  Duration rest = settings.write_every;
  for (int i = 1; i < failures && rest < kLongestRest; ++i) rest *= 2;
  return std::min(rest, kLongestRest);
}

DeliveryLog::DeliveryLog(store::Records& records, UlidSource& ids, const Clock& clock, Log& log,
                         DeliveryLogSettings settings, std::string node)
    : records_(records),
      ids_(ids),
      clock_(clock),
      log_(log),
      settings_(settings),
      node_(std::move(node)),
      incoming_(settings.book),
      pending_(settings.book),
      thread_([this] { run(); }) {}

DeliveryLog::~DeliveryLog() { stop(kLastPageWithin); }

void DeliveryLog::add(const Delivery& delivery) {
  bool is_first = false;
  {
    const MutexLock lock(mutex_);
    is_first = incoming_.empty();
    incoming_.add(delivery);
  }
  if (is_first) changed_.notify_one();
}

void DeliveryLog::stop(Duration within) {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  const MutexLock ending(ending_);
  if (thread_.joinable()) thread_.join();
  write_all(within);
}

void DeliveryLog::run() {
  name_this_thread("notify-records");
  while (wait_for_work()) {
    try {
      take_incoming();
      (void)write_page(kPageWithin);
    } catch (...) {
      // Out of memory: tried again.
      next_write_ = SteadyClock::now() + settings_.write_every;
    }
  }
}

bool DeliveryLog::wait_for_work() {
  const MutexLock lock(mutex_);
  while (!stopping_ && incoming_.empty() && !has_pages()) changed_.wait(mutex_);
  // What comes together is written together.
  const Instant until = std::max(next_write_, SteadyClock::now() + settings_.write_every);
  while (!stopping_ && SteadyClock::now() < until) changed_.wait_until(mutex_, until);
  return !stopping_;
}

void DeliveryLog::take_incoming() {
  DeliveryBook taken(settings_.book);
  {
    const MutexLock lock(mutex_);
    std::swap(taken, incoming_);
  }
  pending_.add(std::move(taken));
}

bool DeliveryLog::write_page(Duration within) {
  if (!page_) {
    std::string text = take_delivery_page(pending_, node_);
    if (text.empty()) return true;
    page_ = store::Record{.space = std::string(kDeliverySpace),
                          .name = delivery_page_name(clock_.now(), ids_.next()),
                          .value = std::move(text)};
  }
  const auto added = records_.add(*page_, settings_.keep, within);
  if (!added) {
    refused(added.error());
    return false;
  }
  failures_ = 0;
  next_write_ = SteadyClock::now() + rest_after(page_->value.size(), settings_);
  page_.reset();
  return true;
}

void DeliveryLog::refused(const Error& error) {
  // One line for each outage.
  if (++failures_ == 1) log_.warning("deliveries_not_written", {{"error", error.message}});
  next_write_ = SteadyClock::now() + rest_after_failures(failures_, settings_);
  // It would never be taken.
  if (error.code == ErrorCode::kInvalid) page_.reset();
}

void DeliveryLog::write_all(Duration within) {
  const Instant deadline = SteadyClock::now() + within;
  take_incoming();
  while (has_pages()) {
    const auto left = std::chrono::duration_cast<Duration>(deadline - SteadyClock::now());
    if (left > Duration::zero() && write_page(std::min(left, kPageWithin))) continue;
    log_.error("deliveries_lost",
               {{"count", std::to_string(pending_.count())}, {"pages", page_ ? "1" : "0"}});
    pending_ = DeliveryBook(settings_.book);
    page_.reset();
  }
}

}  // namespace recourse::notify
