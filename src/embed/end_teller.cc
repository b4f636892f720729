#include "embed/end_teller.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace recourse::embed {
namespace {

// A clock that is asked for more might overflow.
constexpr Duration kLongest = std::chrono::hours(24);

}  // namespace

std::optional<Ended> ended_of(const engine::Happening& happening) {
  const auto* moved = std::get_if<engine::Moved>(&happening);
  if (moved == nullptr) return std::nullopt;
  if (!task::is_finished(moved->to) && !task::needs_person(moved->to)) return std::nullopt;
  Ended ended{.id = task::to_string(moved->task),
              .kind = moved->kind.value,
              .tenant = moved->tenant.value,
              .state = std::string(task::to_string(moved->to)),
              .retries = moved->retries,
              .error_code = {},
              .error = {},
              .took = moved->took};
  if (moved->error) {
    ended.error_code = moved->error->code;
    ended.error = moved->error->message;
  }
  return ended;
}

void tell_safely(const std::function<void(const Ended&)>& call, const Ended& ended) {
  // Nobody is left to be told of it, and the next end matters as much.
  try {
    call(ended);
  } catch (...) {  // NOLINT(bugprone-empty-catch)
  }
}

EndTeller::EndTeller(std::function<void(const Ended&)> call)
    : call_(std::move(call)), thread_([this] { run(); }) {}

EndTeller::~EndTeller() {
  {
    MutexLock lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void EndTeller::tell(Ended ended) {
  {
    MutexLock lock(mutex_);
    if (waiting_.size() == kWaitingMax) waiting_.pop_front();
    waiting_.push_back(std::move(ended));
  }
  changed_.notify_all();
}

void EndTeller::wait(Duration patience) {
  const auto until = std::chrono::steady_clock::now() + std::min<Duration>(patience, kLongest);
  MutexLock lock(mutex_);
  while (!waiting_.empty() || calling_) {
    if (changed_.wait_until(mutex_, until) == std::cv_status::timeout) return;
  }
}

void EndTeller::run() {
  mutex_.lock();
  while (true) {
    while (waiting_.empty() && !closing_) changed_.wait(mutex_);
    if (closing_) break;
    const Ended next = std::move(waiting_.front());
    waiting_.pop_front();
    calling_ = true;
    mutex_.unlock();
    tell_safely(call_, next);
    mutex_.lock();
    calling_ = false;
    changed_.notify_all();
  }
  mutex_.unlock();
}

}  // namespace recourse::embed
