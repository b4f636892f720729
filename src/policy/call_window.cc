#include "policy/call_window.h"

namespace recourse::policy {

CallCounts& CallCounts::operator+=(const CallCounts& other) {
  calls += other.calls;
  failed += other.failed;
  slow += other.slow;
  return *this;
}

CallCounts& CallCounts::operator-=(const CallCounts& other) {
  calls -= other.calls;
  failed -= other.failed;
  slow -= other.slow;
  return *this;
}

void CountWindow::add(TimePoint, const CallCounts& call) {
  CallCounts& oldest = ring_[next_];
  total_ -= oldest;
  total_ += call;
  oldest = call;
  next_ = (next_ + 1) % ring_.size();
}

}  // namespace recourse::policy
