#include "notify/send_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/field_checks.h"

namespace recourse::notify {
namespace {

// Another try may go better; any other error stays what it is.
bool is_worth_another_try(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kExhausted ||
         code == ErrorCode::kInDoubt;
}

}  // namespace

Result<> validate(const DispatchSettings& settings) {
  using namespace std::chrono_literals;
  const Result<> own =
      FieldChecks("dispatch")
          .between("threads_max", settings.threads_max, 1, kThreadsMax)
          .between("threads_core", settings.threads_core, 1, std::max(1, settings.threads_max))
          .between<Duration>("keep_alive", settings.keep_alive, 1ms, kKeepAliveMax)
          .between("queue_max", settings.queue_max, 1, kQueueMax)
          .between("tries_max", settings.tries_max, 1, 20)
          .between<Duration>("retry_delay_min", settings.retry_delay_min, 1ms, 1h)
          .between<Duration>("retry_delay_max", settings.retry_delay_max, settings.retry_delay_min,
                             std::max<Duration>(1h, settings.retry_delay_min))
          .result();
  return own ? policy::validate(settings.breaker) : own;
}

SendQueue::SendQueue(const DispatchSettings& settings, std::size_t channels)
    : settings_(checked(settings)), lines_(channels, Line(settings.breaker)) {}

bool SendQueue::offer(Letter letter) {
  const auto most = static_cast<std::size_t>(settings_.queue_max);
  Line& line = lines_[letter.channel];
  const std::size_t most_of_one = lines_.size() > 1 ? (most + 1) / 2 : most;
  if (gave_up_ || waiting_ >= most || line.ready.size() + line.later.size() >= most_of_one) {
    return false;
  }
  line.ready.push_back({.letter = std::move(letter)});
  ++waiting_;
  return true;
}

bool SendQueue::has_thread_for(const Line& line) const {
  const int free = settings_.threads_max - out_;
  if (line.out == 0) return free > 0;
  const auto idle_others =
      std::ranges::count_if(lines_, [](const Line& one) { return one.out == 0; });
  return free > idle_others;
}

std::optional<SendQueue::Try> SendQueue::next(TimePoint now, std::vector<Ended>& ended) {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const std::size_t turn = (turn_ + i) % lines_.size();
    if (auto found = next_of(lines_[turn], now, ended)) {
      turn_ = turn + 1;
      return found;
    }
  }
  return std::nullopt;
}

std::optional<SendQueue::Try> SendQueue::next_of(Line& line, TimePoint now,
                                                 std::vector<Ended>& ended) {
  while (!line.later.empty() && line.later.begin()->first <= now) {
    line.ready.push_back(std::move(line.later.begin()->second));
    line.later.erase(line.later.begin());
  }
  if (line.ready.empty() || !has_thread_for(line)) return std::nullopt;
  const auto permit = line.breaker.acquire(now);
  if (!permit) {
    // Half open: what waits hears from the probe that is out.
    if (line.breaker.state() == policy::BreakerState::kOpen) {
      fail_ready(line, "not tried: the channel failed too often and is left alone for a while",
                 ended);
    }
    return std::nullopt;
  }
  Try attempt{.waiting = std::move(line.ready.front()), .permit = *permit, .began = now};
  line.ready.pop_front();
  --waiting_;
  ++attempt.waiting.tries;
  ++line.out;
  ++out_;
  return attempt;
}

void SendQueue::tried(Try attempt, Result<> result, TimePoint now, std::vector<Ended>& ended) {
  Waiting waiting = std::move(attempt.waiting);
  Line& line = lines_[waiting.letter.channel];
  --line.out;
  --out_;
  line.breaker.record(attempt.permit, {.failed = !result, .took = now - attempt.began}, now);
  if (result) {
    ended.push_back({std::move(waiting.letter), {.sent = true, .tries = waiting.tries}});
    return;
  }
  Error error = std::move(result).error();
  const bool again =
      !gave_up_ && waiting.tries < settings_.tries_max && is_worth_another_try(error.code);
  if (!again) {
    ended.push_back(
        {std::move(waiting.letter), {.tries = waiting.tries, .error = std::move(error.message)}});
    return;
  }
  const TimePoint due = saturating_add(now, pause_after(waiting.tries));
  waiting.last_error = std::move(error.message);
  line.later.emplace(due, std::move(waiting));
  ++waiting_;
}

Duration SendQueue::pause_after(int tries) const {
  Duration pause = settings_.retry_delay_min;
  for (int i = 1; i < tries && pause < settings_.retry_delay_max; ++i) pause *= 2;
  return std::min(pause, settings_.retry_delay_max);
}

void SendQueue::fail_ready(Line& line, std::string_view why, std::vector<Ended>& ended) {
  for (Waiting& one : line.ready) {
    std::string error =
        one.last_error.empty() ? std::string(why) : fmt::format("{}; {}", one.last_error, why);
    ended.push_back({std::move(one.letter), {.tries = one.tries, .error = std::move(error)}});
  }
  waiting_ -= line.ready.size();
  line.ready.clear();
}

void SendQueue::give_up(std::string_view why, std::vector<Ended>& ended) {
  gave_up_ = true;
  for (Line& line : lines_) {
    for (auto& [due, one] : line.later) line.ready.push_back(std::move(one));
    line.later.clear();
    fail_ready(line, why, ended);
  }
}

std::optional<TimePoint> SendQueue::next_wakeup() const {
  std::optional<TimePoint> first;
  for (const Line& line : lines_) {
    if (line.later.empty()) continue;
    const TimePoint due = line.later.begin()->first;
    first = std::min(first.value_or(due), due);
  }
  return first;
}

}  // namespace recourse::notify
