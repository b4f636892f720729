#include "sim/node.h"

#include <utility>

#include "sim/follow_ups.h"
#include "sim/node_process.h"
#include "sim/world.h"

namespace recourse::sim {
namespace {

using namespace std::chrono_literals;

// A core that wants to be woken again and again without anything having come would burn a
// processor.
constexpr int kIdleWakesMax = 20;

}  // namespace

Node::Node(World& world, int index) : world_(world), index_(index) {}
Node::~Node() = default;

void Node::start() {
  if (process_ != nullptr) return;
  process_ = std::make_unique<Process>();
  process_->number = ++processes_;
  process_->born = world_.schedule.now();
  process_->born_local = world_.schedule.now() + wall_ahead_;
  process_->drift = drift_;
  process_->core = std::make_unique<engine::Core>(node_settings(index_), kinds_of(index_),
                                                  world_.rng.next(), process_->born_local);
  world_.trace.add(world_.schedule.now(), "process starts", index_, {},
                   static_cast<std::int64_t>(processes_));
  engine::Commands out;
  process_->core->begin(local_now(), out);
  carry_out(std::move(out));
  settle();
}

void Node::crash() {
  if (process_ == nullptr) return;
  world_.trace.add(world_.schedule.now(), "process is gone", index_, {},
                   static_cast<std::int64_t>(process_->number));
  for (const auto& [attempt, begun] : process_->begun) close_run(begun);
  if (const auto facts = world_.ledger.processes.find(process_->incarnation);
      facts != world_.ledger.processes.end()) {
    facts->second.gone = true;
  }
  process_.reset();
}

void Node::stop(Duration limit) {
  if (process_ == nullptr || process_->paused || process_->stopping) return;
  process_->stopping = true;
  world_.ledger.processes[process_->incarnation].stopping = true;
  process_->stop_asked_at = world_.schedule.now();
  world_.trace.add(world_.schedule.now(), "stop asked", index_);
  deliver(process_->number, engine::StopRequest{.limit = limit});
}

void Node::pause(Duration length) {
  if (process_ == nullptr || process_->paused) return;
  process_->paused = true;
  process_->paused_at = world_.schedule.now();
  trouble();
  world_.trace.add(world_.schedule.now(), "paused", index_, {}, length.count());
  world_.schedule.after(length, [this, number = process_->number] { resume(number); });
}

void Node::resume(std::uint64_t number) {
  if (!is_running(number) || !process_->paused) return;
  process_->paused = false;
  trouble();
  const TimePoint now = world_.schedule.now();
  world_.trace.add(now, "goes on", index_);
  if (now - process_->paused_at > engine::fenced_after(node_settings(index_).lease)) {
    world_.ledger.processes[process_->incarnation].unhealthy_at = now;
  }
  std::deque<std::function<void()>> held_up = std::exchange(process_->held_up, {});
  for (const auto& action : held_up) {
    if (!is_running(number)) return;
    post(number, action);
  }
  if (is_running(number)) settle();
}

void Node::set_cut_off(bool cut_off) {
  cut_off_ = cut_off;
  trouble();
}

void Node::trouble() {
  if (process_ == nullptr) return;
  const auto facts = world_.ledger.processes.find(process_->incarnation);
  if (facts != world_.ledger.processes.end()) facts->second.troubled_at = world_.schedule.now();
}

bool Node::submit(engine::SubmitId submit, store::Submission submission, bool again) {
  if (process_ == nullptr || process_->paused) return false;
  deliver(process_->number,
          engine::Submit{.submit = submit,
                         .submission = std::move(submission),
                         .novelty = again ? store::Novelty::kRepeat : store::Novelty::kFresh});
  return true;
}

void Node::hint_requests() {
  if (process_ != nullptr) deliver(process_->number, engine::RequestHint{});
}

bool Node::is_running(std::uint64_t process) const {
  return process_ != nullptr && process_->number == process;
}
bool Node::paused() const { return process_ != nullptr && process_->paused; }
bool Node::stopping() const { return process_ != nullptr && process_->stopping; }

void Node::post(std::uint64_t number, std::function<void()> action) {
  if (!is_running(number)) return;
  if (process_->paused) {
    process_->held_up.push_back(std::move(action));
    return;
  }
  action();
}

void Node::deliver(std::uint64_t number, engine::Event event) {
  if (!is_running(number) || process_->stopped) return;
  if (process_->paused) {
    auto kept = std::make_shared<engine::Event>(std::move(event));
    process_->held_up.emplace_back([this, number, kept] { deliver(number, std::move(*kept)); });
    return;
  }
  ++world_.coverage.steps;
  process_->idle_wakes = 0;
  engine::Commands out;
  process_->core->on(std::move(event), local_now(), out);
  carry_out(std::move(out));
  settle();
}

void Node::settle() {
  if (process_ == nullptr || process_->paused || process_->stopped) return;
  engine::Commands out;
  process_->core->settle(local_now(), out);
  carry_out(std::move(out));
  wake_when_needed();
}

void Node::wake_when_needed() {
  if (process_ == nullptr || process_->stopped) return;
  const TimePoint local = process_->core->next_wakeup();
  if (local == kNever) return;
  const TimePoint now = world_.schedule.now();
  const TimePoint when = std::max(true_time(local), now + 1us);
  if (when == now + 1us && ++process_->idle_wakes > kIdleWakesMax) {
    world_.ledger.broken("a settled core sleeps", "it asks to be woken at once, again and again",
                         {}, now);
    return;
  }
  if (process_->wake_at <= when && process_->wake_at > now) return;
  process_->wake_at = when;
  world_.schedule.at(when, [this, number = process_->number, when] {
    if (!is_running(number) || process_->wake_at != when) return;
    process_->wake_at = kNever;
    settle();
  });
}

TimePoint Node::local_now() const {
  const Duration elapsed = world_.schedule.now() - process_->born;
  return process_->born_local + elapsed + elapsed * process_->drift / 1'000'000;
}

TimePoint Node::true_time(TimePoint local) const {
  const Duration ahead = local - process_->born_local;
  // The inverse, rounded up: a wake-up that comes too early is none.
  TimePoint when = process_->born + ahead - ahead * process_->drift / 1'000'000;
  const auto shows = [&](TimePoint at) {
    const Duration elapsed = at - process_->born;
    return process_->born_local + elapsed + elapsed * process_->drift / 1'000'000;
  };
  while (shows(when) < local) when += 1us;
  return when;
}

// --- the executor ---

void Node::answer_soon(engine::Event event) {
  auto kept = std::make_shared<engine::Event>(std::move(event));
  world_.schedule.after(
      10us, [this, number = process_->number, kept] { deliver(number, std::move(*kept)); });
}

void Node::take_from_queue() {
  const int threads = node_settings(index_).executor.max_threads;
  while (process_ != nullptr && !process_->queue.empty() && process_->threads < threads) {
    std::deque<engine::Start> in_turn = std::move(process_->queue.front());
    process_->queue.pop_front();
    ++process_->threads;
    call_next(std::move(in_turn), false);
  }
}

void Node::call_next(std::deque<engine::Start> in_turn, bool asynchronous) {
  while (!in_turn.empty()) {
    const engine::Start start = std::move(in_turn.front());
    in_turn.pop_front();
    if (!may_begin(start)) continue;
    begin_handler(start, std::move(in_turn), asynchronous);
    return;
  }
  if (!asynchronous) --process_->threads;
}

bool Node::may_begin(const engine::Start& start) {
  const bool told = process_->told_to_stop.erase(start.attempt) > 0;
  if (process_->handed.erase(start.attempt) == 0) return false;
  const bool too_late = local_now() >= process_->start_limit || local_now() > start.start_by;
  if (!told && !too_late) return true;
  answer_soon(engine::AttemptEnded{start.attempt, engine::NotStarted{}});
  return false;
}

void Node::begin_handler(const engine::Start& start, std::deque<engine::Start> behind,
                         bool asynchronous) {
  const std::uint64_t number = process_->number;
  const task::Task& task = *start.task;
  Begun begun{.task = start.task,
              .script = draw_script(task, world_.plan, world_.is_quiet(), world_.rng),
              .asynchronous = asynchronous,
              .at = local_now(),
              .behind = std::move(behind)};
  world_.handler_started({.task = task.id,
                          .ticket = task.ticket,
                          .owner = *task.owner,
                          .node = index_,
                          .started_at = world_.schedule.now()});
  if (begun.script.fault) world_.coverage.count(*begun.script.fault);
  const Duration takes = begun.script.takes;
  if (begun.script.kills) {
    world_.schedule.after(5ms, [this, number] {
      if (is_running(number)) world_.crash_and_restart(index_);
    });
  }
  process_->begun.emplace(start.attempt, std::move(begun));
  world_.schedule.after(takes / 2, [this, number, attempt = start.attempt] {
    post(number, [this, attempt] { say(attempt, "half way"); });
  });
  world_.schedule.after(takes, [this, number, attempt = start.attempt] {
    post(number, [this, attempt] { end_handler(attempt); });
  });
}

void Node::close_run(const Begun& begun) {
  for (HandlerRun& run : world_.ledger.handlers[begun.task->id]) {
    if (run.ticket == begun.task->ticket && run.owner == begun.task->owner && !run.ended_at) {
      run.ended_at = world_.schedule.now();
    }
  }
}

void Node::end_handler(engine::AttemptId attempt) {
  auto found = process_->begun.extract(attempt);
  if (!found) return;
  Begun begun = std::move(found.mapped());
  close_run(begun);
  world_.trace.add(world_.schedule.now(), "handler ends", index_, begun.task->id,
                   begun.task->ticket.fence.value);
  engine::AttemptResult result = begun.script.result;
  if (begun.told && !begun.script.lies) {
    result = engine::Failed{policy::Declined{"was told to stop"}};
  }
  const std::uint64_t number = process_->number;
  say_last(attempt, *begun.task);
  if (!is_running(number)) return;
  std::vector<store::Submission> follow_ups = draw_follow_ups(attempt, *begun.task, result);
  if (!follow_ups.empty()) {
    world_.ledger.brought_follow_ups.insert({begun.task->id, begun.task->ticket});
  }
  deliver(number,
          engine::AttemptEnded{attempt, std::move(result), std::nullopt, std::move(follow_ups)});
  if (!is_running(number)) return;
  call_next(std::move(begun.behind), begun.asynchronous);
  take_from_queue();
}

}  // namespace recourse::sim
