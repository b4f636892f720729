// One deadline at a time, over one timer. Moving it later costs nothing: the timer, when it goes
// off, looks again. So a connection that is asked ten thousand things a second sets its timer
// about once a minute.
//
// Thread safety: on the strand only.
#pragma once

#include <functional>
#include <memory>

#include "base/time.h"
#include "http/server/asio.h"

namespace recourse::http {

class Deadline {
 public:
  // `on_passed` is called on the strand, once for each deadline that passes.
  Deadline(const Strand& strand, std::function<void()> on_passed)
      : timer_(strand), on_passed_(std::move(on_passed)) {}

  // From now; `owner` is kept alive while the timer runs.
  void set(Duration within, const std::shared_ptr<void>& owner);
  // There is none until the next set().
  void clear();
  [[nodiscard]] bool has_passed() const { return has_passed_; }
  // For good: the owner is let go.
  void stop();

 private:
  using Instant = std::chrono::steady_clock::time_point;

  void arm(Instant at, const std::shared_ptr<void>& owner);
  void look(const std::shared_ptr<void>& owner);

  Timer timer_;
  std::function<void()> on_passed_;
  Instant due_ = Instant::max();
  Instant armed_for_ = Instant::max();
  bool has_passed_ = false;
  bool is_stopped_ = false;
};

}  // namespace recourse::http
