#include "sim/network.h"

#include <algorithm>
#include <utility>

#include "sim/world.h"

namespace recourse::sim {
namespace {

using namespace std::chrono_literals;

constexpr Duration kFirstPause = 20ms;
constexpr Duration kLongestPause = 1s;
constexpr int kNestedMax = 3;

}  // namespace

struct Network::Sent {
  Call call;
  TimePoint deadline;
  bool lose_call = false;
  bool lose_reply = false;
  bool answered = false;
  Duration pause = kFirstPause;
};

SimStore& Network::store() { return world_.store; }

Duration Network::delay() {
  Rng& rng = world_.rng;
  if (slow_ && rng.fraction() < 0.3) return rng.between(Duration(100ms), Duration(12s));
  if (world_.chance(world_.plan.slow_call)) {
    world_.coverage.count(Fault::kSlowStore);
    return rng.between(Duration(50ms), Duration(4s));
  }
  return rng.between(Duration(200us), Duration(3ms));
}

bool Network::is_cut_off(const Sender& from) const {
  return outage_ || (from.node >= 0 && world_.node(from.node).cut_off());
}

bool Network::is_alive(const Sender& from) const {
  return from.node < 0 || world_.node(from.node).is_running(from.process);
}

void Network::send(Call call) {
  auto sent = std::make_shared<Sent>();
  const TimePoint now = world_.schedule.now();
  sent->deadline = now + call.within;
  const bool writes = call.writes;
  sent->call = std::move(call);
  if (world_.chance(world_.plan.lost_call)) sent->lose_call = true;
  TimePoint arrival = now + delay();
  if (writes && world_.chance(world_.plan.late_commit)) {
    world_.coverage.count(Fault::kLateCommit);
    const TimePoint told = std::min(sent->deadline, now + world_.rng.between(1ms, Duration(2s)));
    world_.schedule.at(told, [this, sent] {
      answer(sent, Error{ErrorCode::kInDoubt, "the connection was lost at COMMIT"});
    });
    arrival = told + world_.rng.between(Duration(1ms), Duration(20s));
  } else {
    if (writes && world_.chance(world_.plan.lost_reply)) sent->lose_reply = true;
    if (arrival > sent->deadline) {
      world_.schedule.at(sent->deadline, [this, sent] {
        answer(sent, sent->call.writes ? Error{ErrorCode::kInDoubt, "no reply to COMMIT in time"}
                                       : Error{ErrorCode::kUnavailable, "no answer in time"});
      });
    }
  }
  world_.schedule.at(arrival, [this, sent] { arrive(sent); });
}

void Network::arrive(const SentPtr& sent) {
  const TimePoint now = world_.schedule.now();
  if (!is_alive(sent->call.from)) {
    if (!sent->call.writes || !world_.chance(world_.plan.ghost_commit)) return;
    world_.coverage.count(Fault::kGhostCommit);
    world_.trace.add(now, "ghost commit", sent->call.from.node);
    sent->lose_reply = false;
    sent->call.run(false, {});
    return;
  }
  const bool lost = std::exchange(sent->lose_call, false);
  if (lost) world_.coverage.count(Fault::kLostCall);
  // Told "in doubt" already: it is on its way, and nobody sends it again.
  if (sent->answered || (!lost && !is_cut_off(sent->call.from))) {
    carry_out(sent);
    return;
  }
  const TimePoint again = now + sent->pause;
  sent->pause = std::min(sent->pause * 2, kLongestPause);
  if (again < sent->deadline) {
    world_.schedule.at(again, [this, sent] { arrive(sent); });
    return;
  }
  world_.schedule.at(sent->deadline, [this, sent] {
    answer(sent, Error{ErrorCode::kUnavailable, "the store cannot be reached"});
  });
}

void Network::carry_out(const SentPtr& sent) {
  const bool lose = sent->lose_reply && nested_ < kNestedMax;
  if (lose) world_.coverage.count(Fault::kLostReply);
  sent->call.run(lose, [this, sent] {
    ++nested_;
    const TimePoint until =
        world_.schedule.now() + world_.rng.between(Duration(5ms), Duration(1500ms));
    world_.schedule.run_until(until);
    --nested_;
    const Sender& from = sent->call.from;
    return is_alive(from) && !is_cut_off(from) && world_.schedule.now() < sent->deadline &&
           !(from.node >= 0 && world_.node(from.node).paused());
  });
  const TimePoint reply = world_.schedule.now() + delay();
  if (reply <= sent->deadline || sent->answered) {
    world_.schedule.at(reply, [this, sent] { answer(sent, std::nullopt); });
    return;
  }
  world_.schedule.at(sent->deadline, [this, sent] {
    answer(sent, sent->call.writes ? Error{ErrorCode::kInDoubt, "no reply to COMMIT in time"}
                                   : Error{ErrorCode::kUnavailable, "no answer in time"});
  });
}

void Network::answer(const SentPtr& sent, std::optional<Error> error) {
  if (std::exchange(sent->answered, true)) return;
  if (error && error->code == ErrorCode::kInDoubt) ++world_.coverage.in_doubt;
  if (sent->call.from.node >= 0 && error) world_.node(sent->call.from.node).trouble();
  sent->call.done(std::move(error));
}

}  // namespace recourse::sim
