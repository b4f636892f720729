#include "message/publish_line.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace recourse::message {
namespace {

// Whatever a broker in trouble makes of each: its connection is looked after in between.
constexpr auto kWorkFor = std::chrono::milliseconds(500);

Unexpected not_running() {
  return fail(ErrorCode::kUnavailable,
              "the source is not running, so nothing was published: start it first");
}

}  // namespace

Result<> PublishLine::ask(std::span<const Outgoing> messages, Deadline deadline,
                          FunctionRef<void()> wake) {
  const auto asked = std::make_shared<Asked>();
  asked->messages.assign(messages.begin(), messages.end());
  asked->deadline = deadline;
  {
    const MutexLock lock(mutex_);
    if (!is_open_) return not_running();
    waiting_.push_back(asked);
  }
  wake();
  const MutexLock lock(mutex_);
  while (!asked->answer) {
    if (answered_.wait_until(mutex_, deadline) != std::cv_status::timeout) continue;
    // One that was begun ends by itself, soon.
    if (std::erase(waiting_, asked) > 0) {
      return fail(ErrorCode::kUnavailable, "the broker had no time for it; nothing was published");
    }
    while (!asked->answer) answered_.wait(mutex_);
  }
  return *std::move(asked->answer);
}

void PublishLine::work_off(FunctionRef<Result<>(std::span<const Outgoing>, Deadline)> publish) {
  const Deadline end = std::chrono::steady_clock::now() + kWorkFor;
  while (std::chrono::steady_clock::now() < end) {
    const std::shared_ptr<Asked> asked = next();
    if (!asked) return;
    answer(*asked, publish(asked->messages, asked->deadline));
  }
}

std::shared_ptr<PublishLine::Asked> PublishLine::next() {
  const MutexLock lock(mutex_);
  if (waiting_.empty()) return nullptr;
  std::shared_ptr<Asked> first = std::move(waiting_.front());
  waiting_.pop_front();
  return first;
}

void PublishLine::answer(Asked& asked, Result<> with) {
  {
    const MutexLock lock(mutex_);
    asked.answer = std::move(with);
  }
  answered_.notify_all();
}

void PublishLine::open() {
  const MutexLock lock(mutex_);
  is_open_ = true;
}

void PublishLine::close() {
  {
    const MutexLock lock(mutex_);
    is_open_ = false;
    for (const std::shared_ptr<Asked>& asked : waiting_) asked->answer = Result<>(not_running());
    waiting_.clear();
  }
  answered_.notify_all();
}

}  // namespace recourse::message
