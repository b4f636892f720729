#include "engine/node.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/thread_name.h"

namespace recourse::engine {
namespace {

// How old the shown status may be.
constexpr Duration kPublishEvery = std::chrono::milliseconds(50);
constexpr ExecutorSettings kQuickCalls{.core_threads = 1, .max_threads = 4};

LogLevel level_of(NodeEvent event) {
  switch (event) {
    case NodeEvent::kJoined:
    case NodeEvent::kUnfenced:
    case NodeEvent::kAdopted: return LogLevel::kInfo;
    case NodeEvent::kJoinFailed:
    case NodeEvent::kHeartbeatFailed:
    case NodeEvent::kFenced:
    case NodeEvent::kPeerDead:
    case NodeEvent::kRefused:
    case NodeEvent::kDropped:
    case NodeEvent::kReconciled:
    case NodeEvent::kStoreFailed:
    case NodeEvent::kMissed:
    case NodeEvent::kUnsubmitted: return LogLevel::kWarning;
    case NodeEvent::kDeclared:
    case NodeEvent::kWriteGivenUp: return LogLevel::kError;
  }
  std::abort();
}

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;  // clang 16 wants it said

SubmitId id_of(SubmitWaiter& waiter) {
  return SubmitId(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&waiter)));
}
SubmitWaiter& waiter_of(SubmitId id) {
  return *reinterpret_cast<SubmitWaiter*>(static_cast<std::uintptr_t>(id.value));
}

// Not a semaphore: the library's spins and yields before it sleeps, and takes from those it waits
// for.
class BlockingWaiter final : public SubmitWaiter {
 public:
  void answered(const SubmitAnswer& answer) override {
    MutexLock lock(mutex_);
    answer_ = answer;
    // Under the lock: whoever waits may be gone, and this with it, as soon as it is free.
    there_.notify_one();
  }
  SubmitAnswer wait() {
    MutexLock lock(mutex_);
    while (!answer_) there_.wait(mutex_);
    return std::move(*answer_);
  }

 private:
  Mutex mutex_;
  ConditionVariable there_;
  std::optional<SubmitAnswer> answer_ GUARDED_BY(mutex_);
};

}  // namespace

Node::Node(store::OpenedStore& opened, const Clock& clock, Log& log, NodeSettings settings,
           std::uint64_t seed)
    : opened_(opened),
      log_(log),
      time_(clock),
      settings_(std::move(settings)),
      seed_(seed),
      executor_(settings_.executor),
      async_starts_(kQuickCalls),
      stop_callbacks_(kQuickCalls) {}

Node::~Node() {
  (void)stop(Duration::zero());
  if (core_thread_.joinable()) core_thread_.join();
}

Result<> Node::handle(std::string_view kind, KindRules rules, Handler handler, Probe probe) {
  {
    MutexLock lock(mutex_);
    if (started_) {
      return fail(
          ErrorCode::kInvalid,
          fmt::format("the handler of \"{}\" comes too late: register it before start()", kind));
    }
  }
  return handlers_.add(kind, std::move(rules), std::move(handler), std::move(probe));
}

Result<> Node::schedule(Schedule schedule) {
  {
    MutexLock lock(mutex_);
    if (started_) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("the schedule \"{}\" comes too late: register it before start()",
                              schedule.name));
    }
  }
  return schedules_.add(std::move(schedule));
}

Result<> Node::start() {
  if (Result<> valid = validate(settings_); !valid) return valid;
  MutexLock lock(mutex_);
  if (std::exchange(started_, true)) {
    return fail(ErrorCode::kInvalid, "the engine was started already");
  }
  crew_ = std::make_unique<StoreCrew>(opened_, *inbox_, settings_.name, settings_.ingest.calls,
                                      settings_.apply_calls);
  hints_ = opened_.hints([this](store::Hint hint) {
    hint_work();
    if (hint == store::Hint::kRequest) hint_requests();
  });
  core_thread_ = std::thread([this] { run(); });
  return {};
}

void Node::run() {
  name_this_thread("engine-core");
  Core core(settings_, handlers_.kinds(), seed_, time_.now(), schedules_.all());
  Commands commands;
  std::vector<Event> events;
  core.begin(time_.now(), commands);
  while (true) {
    turns_.fetch_add(1, std::memory_order_relaxed);
    const TimePoint now = time_.now();
    for (Event& event : events) {
      if (const auto* ended = std::get_if<AttemptEnded>(&event)) runs_.erase(ended->attempt);
      if (std::holds_alternative<Submit>(event)) --submits_in_inbox_;
      core.on(std::move(event), now, commands);
    }
    core.settle(now, commands);
    carry_out(commands);
    if (leaving_) break;
    publish(core, now);
    Duration patience = core.next_wakeup() - now;
    if (core.next_wakeup() == kNever) patience = kLongestWait;
    if (unpublished_) patience = std::min(patience, kPublishEvery);
    inbox_->take(events, patience);
  }
  end(core);
}

// The store's calls are waited for, each has its deadline; their answers answer those who submit.
void Node::end(Core& core) {
  crew_.reset();
  Commands commands;
  for (Event& event : inbox_->close()) core.on(std::move(event), time_.now(), commands);
  core.abandon(commands);
  for (const Command& command : commands) {
    if (const auto* answers = std::get_if<AnswerSubmits>(&command)) carry_out(*answers);
  }
  const Core::Status last = core.status(time_.now());
  MutexLock lock(mutex_);
  status_ = last;
  stopped_ = *leaving_;
  changed_.notify_all();
}

void Node::carry_out(Commands& commands) {
  for (Command& command : commands) {
    // None of them const: the last one would fit better.
    std::visit(Overloaded{[&](Run& run) { carry_out(std::move(run)); },
                          [&](Recall& recall) { carry_out(recall); },
                          [&](StopAttempt& stop) { carry_out(stop); },
                          [&](SetStartLimit& limit) {
                            start_limit_.store(limit.limit.time_since_epoch().count(),
                                               std::memory_order_release);
                          },
                          [&](HintOthers&) { hint_others(store::Hint::kWork); },
                          [&](AnswerSubmits& answers) { carry_out(answers); },
                          [&](Stopped& stopped) { leaving_ = stopped; },
                          [&](Happening& happening) { tell(happening); },
                          [&](auto&) { crew_->carry_out(std::move(command)); }},
               command);
  }
  commands.clear();
}

void Node::carry_out(Run run) {
  // All of one kind.
  const task::Kind& kind = run.in_turn.front().task->spec.kind;
  const HandlerTable::Entry& entry = handlers_.entry_of(kind);
  const bool asynchronous = handlers_.kinds().find(kind)->settings.asynchronous;
  std::vector<std::shared_ptr<AttemptRun>> in_turn;
  in_turn.reserve(run.in_turn.size());
  for (Start& start : run.in_turn) {
    const AttemptId id = start.attempt;
    if (!in_turn.empty()) in_turn.back()->answer_lazily();
    in_turn.push_back(std::make_shared<AttemptRun>(std::move(start), inbox_));
    runs_[id] = in_turn.back();
  }
  (asynchronous ? async_starts_ : executor_).run([this, &entry, in_turn = std::move(in_turn)] {
    for (const auto& one : in_turn) call(one, entry);
    // The last one may have been recalled, and the others wait lazily.
    inbox_->nudge();
  });
}

// Nothing starts once the node may be thought dead.
void Node::call(const std::shared_ptr<AttemptRun>& run, const HandlerTable::Entry& entry) {
  const TimePoint limit(Duration(start_limit_.load(std::memory_order_acquire)));
  const TimePoint now = time_.now();
  const bool too_late = now >= limit || now > run->start().start_by;
  if (too_late || run->stop_token().stop_requested()) {
    (void)run->recall();
  } else if (run->begin(now)) {
    run->measure();
    run_attempt(run, entry.handler, entry.probe);
  }
}

void Node::hint_others(store::Hint hint) {
  if (hints_) hints_->send(hint);
}

void Node::carry_out(const Recall& recall) {
  const auto found = runs_.find(recall.attempt);
  const auto run = found == runs_.end() ? nullptr : found->second.lock();
  if (run == nullptr || run->recall() || !run->has_begun()) return;
  (void)inbox_->put(AttemptBegun{.attempt = recall.attempt, .at = run->began_at()});
}

// A handler's own callbacks run with it, and may take their time.
void Node::carry_out(const StopAttempt& stop) {
  const auto found = runs_.find(stop.attempt);
  if (found == runs_.end()) return;
  if (auto run = found->second.lock()) {
    stop_callbacks_.run(
        [run = std::move(run), reason = stop.reason] { run->request_stop(reason); });
  }
}

void Node::carry_out(const AnswerSubmits& answers) {
  for (const SubmitAnswer& answer : answers.answers) waiter_of(answer.submit).answered(answer);
}

void Node::tell(const Happening& happening) {
  if (const auto* node = std::get_if<NodeHappened>(&happening)) {
    const std::array<LogField, 2> fields{
        {{"detail", node->detail}, {"count", std::to_string(node->count)}}};
    log_.write(level_of(node->event), to_string(node->event), fields);
  } else if (const auto* breaker = std::get_if<BreakerChanged>(&happening)) {
    log_.warning("breaker_changed", {{"kind", breaker->kind.value},
                                     {"from", std::string(to_string(breaker->change.from))},
                                     {"to", std::string(to_string(breaker->change.to))}});
  } else if (const auto* batch = std::get_if<BatchChanged>(&happening)) {
    log_.debug("batch_changed", {{"from", std::to_string(batch->change.from)},
                                 {"to", std::to_string(batch->change.to)},
                                 {"reason", batch->change.reason}});
  }
  if (listener_) listener_(happening);
}

void Node::publish(Core& core, TimePoint now) {
  unpublished_ = now - published_at_ < kPublishEvery;
  if (unpublished_) return;
  published_at_ = now;
  MutexLock lock(mutex_);
  status_ = core.status(now);
}

std::uint64_t Node::turns() {
  const std::uint64_t turns = turns_.load(std::memory_order_relaxed);
  inbox_->wake();
  return turns;
}

TimePoint Node::store_now() const {
  MutexLock lock(mutex_);
  return time_.now() + status_.store_ahead;
}

Core::Status Node::status() const {
  MutexLock lock(mutex_);
  return status_;
}

void Node::submit(store::Submission submission, store::Novelty novelty, SubmitWaiter& waiter) {
  const task::TaskId id = submission.id;
  {
    MutexLock lock(mutex_);
    if (!started_) {
      waiter.answered(
          {id_of(waiter), id, fail(ErrorCode::kUnavailable, "the engine has not been started")});
      return;
    }
  }
  if (submits_in_inbox_.fetch_add(1) >= settings_.ingest.waiting) {
    --submits_in_inbox_;
    waiter.answered({id_of(waiter), id, fail(ErrorCode::kExhausted, kTooManySubmits)});
    return;
  }
  if (!inbox_->put(Submit{
          .submit = id_of(waiter), .submission = std::move(submission), .novelty = novelty})) {
    waiter.answered(
        {id_of(waiter), id, fail(ErrorCode::kUnavailable, "the engine has been stopped")});
  }
}

SubmitAnswer Node::submit(store::Submission submission, store::Novelty novelty) {
  BlockingWaiter waiter;
  submit(std::move(submission), novelty, waiter);
  return waiter.wait();
}

Stopped Node::stop(Duration limit) {
  {
    MutexLock lock(mutex_);
    if (!started_) return {};
  }
  (void)inbox_->put(StopRequest{limit});
  MutexLock lock(mutex_);
  while (!stopped_) changed_.wait(mutex_);
  return *stopped_;
}

}  // namespace recourse::engine
