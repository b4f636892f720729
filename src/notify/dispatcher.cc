#include "notify/dispatcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "base/thread_name.h"

namespace recourse::notify {
namespace {

constexpr std::chrono::seconds kLastWords(1);
constexpr std::size_t kErrorShown = 500;

}  // namespace

Dispatcher::Dispatcher(const DispatchSettings& settings,
                       std::vector<std::shared_ptr<Channel>> channels, const Clock& clock)
    : settings_(settings),
      channels_(std::move(channels)),
      time_(clock),
      queue_(settings, channels_.size()) {}

Dispatcher::~Dispatcher() {
  stop(Duration::zero());
  std::list<std::thread> all;
  {
    MutexLock lock(mutex_);
    ending_ = true;
    all.splice(all.end(), threads_);
    all.splice(all.end(), ended_);
  }
  changed_.notify_all();
  for (std::thread& thread : all) thread.join();
}

bool Dispatcher::offer(Letter letter) {
  {
    MutexLock lock(mutex_);
    if (closed_ || !queue_.offer(std::move(letter))) {
      ++refused_;
      return false;
    }
    join_ended();
    add_thread_if_needed();
  }
  changed_.notify_one();
  return true;
}

// Somebody looks after what waits, whatever the others are busy with: also after what waits between
// two tries, whose time comes without a sign.
void Dispatcher::add_thread_if_needed() {
  if (ending_ || idle_ > 0 || queue_.waiting() == 0) return;
  if (threads_.size() >= static_cast<std::size_t>(settings_.threads_max)) return;
  try {
    threads_.emplace_back([this] { work(); });
    // Until it has looked for itself, so that a burst does not start them all.
    ++idle_;
  } catch (const std::system_error&) {
    // The machine has no more: those there are do it, or the next offer tries again.
  }
}

void Dispatcher::work() {
  name_this_thread("notify");
  mutex_.lock();
  --idle_;
  while (true) {
    Lines ended;
    std::optional<SendQueue::Try> attempt = queue_.next(time_.now(), ended);
    if (!attempt && ended.empty()) {
      if (wait_for_work()) break;
      continue;
    }
    add_thread_if_needed();
    ++busy_;
    mutex_.unlock();
    tell(ended);
    ended.clear();
    if (attempt) carry_out(*std::move(attempt));
    mutex_.lock();
    --busy_;
    idle_changed_.notify_all();
  }
  if (!ending_) {
    const auto self = std::ranges::find(threads_, std::this_thread::get_id(), &std::thread::get_id);
    ended_.splice(ended_.end(), threads_, self);
  }
  mutex_.unlock();
}

bool Dispatcher::wait_for_work() {
  const bool spare = threads_.size() > static_cast<std::size_t>(settings_.threads_core);
  if (ending_) return true;
  const TimePoint now = time_.now();
  const auto start = std::chrono::steady_clock::now();
  const std::optional<TimePoint> wakeup = queue_.next_wakeup();
  const Duration wait =
      wakeup ? std::clamp<Duration>(*wakeup - now, Duration::zero(), settings_.keep_alive)
             : settings_.keep_alive;
  ++idle_;
  const bool timed_out = changed_.wait_until(mutex_, start + wait) == std::cv_status::timeout;
  --idle_;
  // One that is needed for what waits is not spare.
  return timed_out && spare && queue_.waiting() == 0 &&
         threads_.size() > static_cast<std::size_t>(settings_.threads_core);
}

void Dispatcher::carry_out(SendQueue::Try attempt) {
  Result<> result = send(attempt.waiting.letter);
  Lines ended;
  {
    MutexLock lock(mutex_);
    queue_.tried(std::move(attempt), std::move(result), time_.now(), ended);
    add_thread_if_needed();
  }
  // A channel's place, or its breaker, may be what others waited for.
  changed_.notify_all();
  tell(ended);
}

// Channels may be other people's: what they throw ends here.
Result<> Dispatcher::send(const Letter& letter) const {
  try {
    Result<> result =
        channels_[letter.channel]->send(letter.message->fit(), stop_sending_.get_token());
    if (result) return result;
    return fail(result.error().code, one_line(result.error().message, kErrorShown));
  } catch (const std::exception& thrown) {
    return fail(ErrorCode::kUnavailable,
                one_line(fmt::format("the channel threw: {}", thrown.what()), kErrorShown));
  } catch (...) {
    return fail(ErrorCode::kUnavailable, "the channel threw something that is no exception");
  }
}

void Dispatcher::tell(const Lines& ended) {
  for (const SendQueue::Ended& one : ended) one.letter.ended(one.end);
}

bool Dispatcher::wait_until_idle(std::chrono::steady_clock::time_point deadline) {
  while (queue_.waiting() > 0 || busy_ > 0) {
    if (idle_changed_.wait_until(mutex_, deadline) == std::cv_status::timeout) {
      return queue_.waiting() == 0 && busy_ == 0;
    }
  }
  return true;
}

void Dispatcher::stop(Duration within) {
  Lines ended;
  {
    MutexLock lock(mutex_);
    closed_ = true;
    const auto now = std::chrono::steady_clock::now();
    if (wait_until_idle(now + std::min(within, kLongestWait))) return;
    queue_.give_up("the notifier stopped", ended);
  }
  tell(ended);
  stop_sending_.request_stop();
  MutexLock lock(mutex_);
  (void)wait_until_idle(std::chrono::steady_clock::now() + kLastWords);
}

void Dispatcher::join_ended() {
  for (std::thread& thread : ended_) thread.join();
  ended_.clear();
}

Dispatcher::Use Dispatcher::use() const {
  MutexLock lock(mutex_);
  return {.waiting = queue_.waiting(),
          .out = queue_.out(),
          .threads = threads_.size(),
          .refused = refused_};
}

policy::BreakerState Dispatcher::breaker_state(std::size_t channel) const {
  MutexLock lock(mutex_);
  return queue_.breaker_state(channel);
}

}  // namespace recourse::notify
