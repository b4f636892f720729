#include "http/server/deadline.h"

namespace recourse::http {

void Deadline::set(Duration within) {
  has_passed_ = false;
  due_ = std::chrono::steady_clock::now() + within;
  if (due_ < armed_for_) arm(due_);
}

void Deadline::clear() {
  has_passed_ = false;
  due_ = Instant::max();
}

void Deadline::stop() {
  is_stopped_ = true;
  timer_.cancel();
}

void Deadline::arm(Instant at) {
  if (is_stopped_) return;
  armed_for_ = at;
  timer_.expires_at(at);
  timer_.async_wait([this, owner = owner_.lock()](error_code error) {
    // An error: it was armed anew, or stopped.
    if (!error) look();
  });
}

void Deadline::look() {
  armed_for_ = Instant::max();
  if (is_stopped_ || due_ == Instant::max()) return;
  if (std::chrono::steady_clock::now() < due_) return arm(due_);
  due_ = Instant::max();
  has_passed_ = true;
  on_passed_();
}

}  // namespace recourse::http
