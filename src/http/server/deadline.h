// One deadline at a time, over one timer. Moving it later costs nothing: the timer, when it goes
// off, looks again. So a connection that is asked ten thousand things a second sets its timer
// about once a minute.
//
// Thread safety: on the strand only.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "base/time.h"
#include "http/server/asio.h"

namespace recourse::http {

class Deadline {
 public:
  // `on_passed` is called on the strand, once for each deadline that passes.
  Deadline(const Strand& strand, std::function<void()> on_passed)
      : timer_(strand), on_passed_(std::move(on_passed)) {}

  // Whom the timer keeps alive while it runs; before the first set().
  void belong_to(std::weak_ptr<void> owner) { owner_ = std::move(owner); }
  // From now.
  void set(Duration within);
  // There is none until the next set().
  void clear();
  [[nodiscard]] bool has_passed() const { return has_passed_; }
  // For good: the owner is let go.
  void stop();

 private:
  using Instant = std::chrono::steady_clock::time_point;

  void arm(Instant at);
  void look();

  Timer timer_;
  std::function<void()> on_passed_;
  std::weak_ptr<void> owner_;
  Instant due_ = Instant::max();
  Instant armed_for_ = Instant::max();
  bool has_passed_ = false;
  bool is_stopped_ = false;
};

}  // namespace recourse::http
