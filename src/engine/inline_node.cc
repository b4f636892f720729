#include "engine/inline_node.h"

#include <utility>

#include "base/invariant.h"
#include "engine/store_caller.h"

namespace recourse::engine {
namespace {

constexpr std::uint64_t kSeed = 1;
// A task that is due again at once, for ever, must not hang a test.
constexpr int kTurnsMax = 100'000;

}  // namespace

InlineNode::InlineNode(store::OpenedStore& opened, ManualClock& clock, NodeSettings settings)
    : opened_(opened), clock_(clock), settings_(std::move(settings)) {}

InlineNode::~InlineNode() { (void)inbox_->close(); }

Result<> InlineNode::handle(std::string_view kind, KindRules rules, Handler handler, Probe probe) {
  return handlers_.add(kind, std::move(rules), std::move(handler), std::move(probe));
}

Result<> InlineNode::start() {
  if (Result<> valid = validate(settings_); !valid) return valid;
  core_ = std::make_unique<Core>(settings_, handlers_.kinds(), kSeed, now(), schedules_.all());
  Commands commands;
  core_->begin(now(), commands);
  for (Command& command : commands) carry_out(command);
  (void)run_due();
  return {};
}

SubmitAnswer InlineNode::submit(store::Submission submission, store::Novelty novelty) {
  const SubmitId id(++submits_);
  const task::TaskId task = submission.id;
  if (core_ == nullptr) {
    return {id, task, fail(ErrorCode::kUnavailable, "the engine has not been started")};
  }
  (void)inbox_->put(Submit{.submit = id, .submission = std::move(submission), .novelty = novelty});
  while (!answers_.contains(id)) invariant(turn(), "every submit is answered");
  return std::move(answers_.extract(id).mapped());
}

bool InlineNode::turn() {
  std::vector<Event> events;
  inbox_->take(events, Duration::zero());
  Commands commands;
  for (Event& event : events) core_->on(std::move(event), now(), commands);
  core_->settle(now(), commands);
  for (Command& command : commands) carry_out(command);
  return !events.empty() || !commands.empty();
}

void InlineNode::carry_out(Command& command) {
  if (auto* run = std::get_if<Run>(&command)) {
    for (Start& start : run->in_turn) {
      const AttemptId id = start.attempt;
      handed_.push_back(std::make_shared<AttemptRun>(std::move(start), inbox_));
      runs_[id] = handed_.back();
    }
  } else if (const auto* recall = std::get_if<Recall>(&command)) {
    carry_out(*recall);
  } else if (const auto* stop = std::get_if<StopAttempt>(&command)) {
    const auto found = runs_.find(stop->attempt);
    if (found == runs_.end()) return;
    if (const auto live = found->second.lock()) live->request_stop(stop->reason);
  } else if (auto* answers = std::get_if<AnswerSubmits>(&command)) {
    for (SubmitAnswer& answer : answers->answers) {
      answers_.emplace(answer.submit, std::move(answer));
    }
  } else if (const auto* happening = std::get_if<Happening>(&command)) {
    if (listener_) listener_(*happening);
  } else if (!std::holds_alternative<SetStartLimit>(command) &&
             !std::holds_alternative<HintOthers>(command) &&
             !std::holds_alternative<Stopped>(command)) {
    StoreCaller caller(opened_, settings_.name);
    (void)inbox_->put(caller.call(command));
  }
}

void InlineNode::carry_out(const Recall& recall) {
  const auto found = runs_.find(recall.attempt);
  const auto run = found == runs_.end() ? nullptr : found->second.lock();
  if (run == nullptr || run->recall() || !run->has_begun()) return;
  (void)inbox_->put(AttemptBegun{.attempt = recall.attempt, .at = run->began_at()});
}

void InlineNode::call(const std::shared_ptr<AttemptRun>& run) {
  if (!run->begin(now())) return;
  ++calls_;
  const HandlerTable::Entry& entry = handlers_.entry_of(run->task().spec.kind);
  run_attempt(run, entry.handler, entry.probe);
}

bool InlineNode::run_started() {
  const bool any = !handed_.empty();
  while (!handed_.empty()) {
    const auto next = std::move(handed_.front());
    handed_.pop_front();
    call(next);
  }
  std::erase_if(runs_, [](const auto& entry) { return entry.second.expired(); });
  return any;
}

int InlineNode::run_due() {
  const int before = calls_;
  for (int turns = 0; turn() || run_started(); ++turns) {
    invariant(turns < kTurnsMax, "a test's tasks come to rest at one moment");
  }
  return calls_ - before;
}

int InlineNode::advance(Duration by) {
  const TimePoint until = now() + by;
  int calls = run_due();
  while (core_ != nullptr) {
    const TimePoint next = core_->next_wakeup();
    if (next > until) break;
    if (next > now()) clock_.advance(next - now());
    calls += run_due();
    invariant(core_->next_wakeup() > now(), "what is due has been done");
  }
  if (until > now()) clock_.advance(until - now());
  return calls + (core_ == nullptr ? 0 : run_due());
}

void InlineNode::hint_requests() {
  (void)inbox_->put(RequestHint{});
  (void)inbox_->put(WorkHint{});
}

}  // namespace recourse::engine
