#include "message/feeder.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/invariant.h"
#include "base/mutex.h"
#include "base/thread_name.h"
#include "message/dealer.h"
#include "message/feeder_board.h"
#include "message/hand_off.h"
#include "message/publish_line.h"

namespace recourse::message {
namespace {

using std::chrono::steady_clock;

// For a message, before it looks round.
constexpr auto kReceiveWait = std::chrono::seconds(1);
// Where nothing can be taken: the connection is looked after so often at least.
constexpr auto kNoRoomWait = std::chrono::milliseconds(300);
// For verdicts and what is published: less than a third of any sensible heartbeat.
constexpr auto kCallPatience = std::chrono::seconds(3);
constexpr auto kFullLookEvery = std::chrono::seconds(1);
// After an error that came at once, so that nothing spins.
constexpr auto kErrorPause = std::chrono::milliseconds(50);
// To leave the broker in order, whatever the limit says.
constexpr auto kLeavePatience = std::chrono::seconds(2);

}  // namespace

struct Feeder::Impl {
  Impl(std::string feeder_name, std::unique_ptr<Source> from, FeederSettings with, Deal deal,
       Log& log)
      : name(std::move(feeder_name)),
        settings(std::move(with)),
        board(name, log),
        hand_off(settings.batch),
        source(std::move(from)),
        dealer(std::move(deal), settings.refused_pause, hand_off, board, [this] { wake(); }) {
    invariant(settings.batch > 0, "a batch has room for a message");
  }

  void start();
  void stop(Duration limit);
  // The broker's thread comes back from receiving.
  void wake();

  // --- the broker's thread ---
  void feed();
  void turn();
  // How many; none: it must not.
  std::size_t may_take();
  void settle();
  void publish();
  void told(const Error& error);
  void leave();
  Deadline stop_by();

  const std::string name;
  const FeederSettings settings;
  FeederBoard board;
  HandOff hand_off;
  PublishLine line;
  const std::unique_ptr<Source> source;
  Dealer dealer;
  std::stop_source stopping;
  // Of the broker's thread alone.
  Deadline next_full_look{};
  bool is_full = false;

  Mutex mutex;
  ConditionVariable changed;
  bool is_started GUARDED_BY(mutex) = false;
  bool is_over GUARDED_BY(mutex) = false;
  // The source was closed: it must not be woken any more.
  bool has_left GUARDED_BY(mutex) = false;
  Deadline limit GUARDED_BY(mutex) = Deadline::max();
  // Last: they use everything above.
  std::thread broker_thread;
  std::thread dealing_thread;
};

void Feeder::Impl::start() {
  {
    const MutexLock lock(mutex);
    if (std::exchange(is_started, true) || is_over) return;
  }
  line.open();
  broker_thread = std::thread([this] { feed(); });
  dealing_thread = std::thread([this] {
    name_this_thread("deal-" + name);
    dealer.run(stopping.get_token());
  });
}

void Feeder::Impl::stop(Duration within) {
  const Deadline end = steady_clock::now() + std::min<Duration>(within, std::chrono::hours(24));
  hand_off.close();
  {
    const MutexLock lock(mutex);
    limit = std::min(limit, end);
    if (!is_started) is_over = true;
  }
  stopping.request_stop();
  wake();
  const MutexLock lock(mutex);
  while (!is_over) changed.wait(mutex);
}

void Feeder::Impl::wake() {
  // Held while it is called: the source may be closed right after.
  const MutexLock lock(mutex);
  if (!has_left) source->interrupt();
}

void Feeder::Impl::feed() {
  name_this_thread("msg-" + name);
  while (!stopping.stop_requested()) turn();
  leave();
}

void Feeder::Impl::turn() {
  settle();
  publish();
  const std::size_t most = may_take();
  const Deadline until =
      steady_clock::now() + (most > 0 ? Duration(kReceiveWait) : Duration(kNoRoomWait));
  auto batch = source->receive(most, until);
  if (!batch) {
    told(batch.error());
    return;
  }
  // One that was woken before its time says nothing of its broker.
  if (batch->empty() && steady_clock::now() < until) return;
  board.broker_answered();
  if (batch->empty()) return;
  board.received(batch->size(), SystemClock().now());
  hand_off.offer(*std::move(batch));
}

std::size_t Feeder::Impl::may_take() {
  const Deadline now = steady_clock::now();
  if (settings.is_full && now >= next_full_look) {
    next_full_look = now + kFullLookEvery;
    is_full = settings.is_full();
    board.set_full(is_full);
  }
  return is_full ? 0 : hand_off.room();
}

void Feeder::Impl::settle() {
  const std::vector<Verdict> verdicts = hand_off.take_verdicts(steady_clock::now());
  if (verdicts.empty()) return;
  const auto settled = source->settle(verdicts, steady_clock::now() + kCallPatience);
  if (!settled) {
    told(settled.error());
    return;
  }
  const auto is_dropped = [&](const Verdict& verdict) {
    return std::ranges::find(settled->dropped, verdict.ticket) != settled->dropped.end();
  };
  std::size_t done = 0;
  std::size_t given_back = 0;
  for (const Verdict& verdict : verdicts) {
    if (!settled->dropped.empty() && is_dropped(verdict)) continue;
    ++(verdict.fate == Fate::kDone ? done : given_back);
  }
  board.acknowledged(done);
  board.given_back(given_back);
}

void Feeder::Impl::publish() {
  line.work_off([this](std::span<const Outgoing> messages, Deadline deadline) {
    return source->publish(messages, std::min(deadline, steady_clock::now() + kCallPatience));
  });
}

void Feeder::Impl::told(const Error& error) {
  board.broker_failed(error);
  (void)hand_off.closed_within(kErrorPause);
}

Deadline Feeder::Impl::stop_by() {
  const MutexLock lock(mutex);
  return limit;
}

void Feeder::Impl::leave() {
  // What is being dealt with may still be acknowledged.
  while (!hand_off.idle_within(Duration::zero()) && steady_clock::now() < stop_by()) {
    settle();
    publish();
    const auto until = steady_clock::now() + kNoRoomWait;
    // Whatever it brings is given back in the end.
    if (const auto none = source->receive(0, std::min(until, stop_by())); !none) {
      told(none.error());
      (void)hand_off.idle_within(kErrorPause);
    }
  }
  settle();
  line.close();
  {
    const MutexLock lock(mutex);
    has_left = true;
  }
  const auto left = source->close(steady_clock::now() + kLeavePatience);
  if (left) {
    board.given_back(*left);
  } else {
    board.broker_failed(left.error());
  }
  {
    const MutexLock lock(mutex);
    is_over = true;
  }
  changed.notify_all();
}

Feeder::Feeder(std::string name, std::unique_ptr<Source> source, FeederSettings settings, Deal deal,
               Log& log)
    : impl_(std::make_unique<Impl>(std::move(name), std::move(source), std::move(settings),
                                   std::move(deal), log)) {}

Feeder::~Feeder() { join(); }

void Feeder::join() {
  impl_->stop(Duration::zero());
  if (impl_->broker_thread.joinable()) impl_->broker_thread.join();
  if (impl_->dealing_thread.joinable()) impl_->dealing_thread.join();
}

void Feeder::start() { impl_->start(); }
void Feeder::stop(Duration limit) { impl_->stop(limit); }
const std::string& Feeder::name() const { return impl_->name; }
FeederFigures Feeder::figures() const { return impl_->board.figures(); }

Result<> Feeder::publish(std::span<const Outgoing> messages, Duration within) {
  return impl_->line.ask(messages,
                         steady_clock::now() + std::min<Duration>(within, std::chrono::hours(1)),
                         [this] { impl_->wake(); });
}

}  // namespace recourse::message
