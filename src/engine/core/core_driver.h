// Plays the shell for tests of the core: hands it events, keeps what it wants done, moves its time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/ulid.h"
#include "engine/core/core.h"

namespace recourse::engine {

inline constexpr const char* kMail = "mail";

inline KindSettings at_once(int handlers) {
  KindSettings settings;
  settings.concurrency = handlers;
  return settings;
}

class CoreDriver {
 public:
  CoreDriver(const NodeSettings& settings, const std::vector<std::string>& kinds,
             const KindSettings& kind = {}) {
    KindTable table;
    for (const std::string& name : kinds) {
      KindRules rules;
      rules.settings = kind;
      (void)table.add(name, std::move(rules));
    }
    core_.emplace(settings, std::move(table), 1, now);
    Commands out;
    core_->begin(now, out);
    keep(std::move(out));
  }

  // --- time and events ---
  void settle() {
    Commands out;
    core_->settle(now, out);
    keep(std::move(out));
  }
  void tell(Event event) {
    Commands out;
    core_->on(std::move(event), now, out);
    core_->settle(now, out);
    keep(std::move(out));
  }
  void advance(Duration by) {
    now += by;
    settle();
  }
  [[nodiscard]] TimePoint next_wakeup() { return core_->next_wakeup(); }
  [[nodiscard]] Core::Status status() const { return core_->status(now); }

  // --- commands: each is taken once ---
  template <class T>
  std::optional<T> take() {
    for (auto one = commands.begin(); one != commands.end(); ++one) {
      if (auto* found = std::get_if<T>(&*one)) {
        T taken = std::move(*found);
        commands.erase(one);
        return taken;
      }
    }
    return std::nullopt;
  }
  template <class T>
  std::vector<T> take_all() {
    std::vector<T> all;
    while (auto one = take<T>()) all.push_back(*std::move(one));
    return all;
  }
  template <class T>
  [[nodiscard]] std::size_t place_of() const {
    std::size_t place = 0;
    while (place < commands.size() && !std::holds_alternative<T>(commands[place])) ++place;
    return place;
  }

  // --- the usual answers ---
  void join(const store::Pauses& pauses = {}) {
    joined_at = now;
    tell(JoinEnded{take<Join>().value().call, store::Joined{.now = now, .pauses = pauses}});
    (void)take<ReadNodes>();
    tell(NodesRead{std::vector<store::NodeRow>{}});
    (void)take<Adopt>();
    tell(AdoptEnded{store::Adopted{}});
    (void)take<ReadCounts>();
    tell(CountsRead{store::Counts{}});
    commands.clear();
  }
  void beat(const store::Pauses& pauses = {}) {
    tell(HeartbeatEnded{take<Heartbeat>().value().call,
                        store::Pulse{.now = now, .pauses = pauses, .requests = {}}});
  }
  // Others took this node for dead.
  void declared_dead() {
    tell(RequestHint{});
    tell(HeartbeatEnded{take<Heartbeat>().value().call,
                        fail(ErrorCode::kConflict, "this node was declared dead")});
  }
  task::TaskId submit(const std::string& kind, task::TaskId id = {},
                      store::Novelty novelty = store::Novelty::kFresh) {
    store::Submission submission;
    submission.id = id == task::TaskId() ? task::TaskId(ids.next(now)) : id;
    submission.spec.kind = task::Kind(kind);
    submission.spec.timeout = std::chrono::seconds(10);
    const task::TaskId made = submission.id;
    tell(Submit{
        .submit = SubmitId(++submits), .submission = std::move(submission), .novelty = novelty});
    return made;
  }
  void inserted(store::Insertion how = store::Insertion::kInserted) {
    Insert insert = take<Insert>().value();
    store::InsertAnswer answer{.now = now, .items = {}};
    for (const store::Submission& submission : insert.batch) {
      const bool mine = how == store::Insertion::kInserted && submission.claim.has_value();
      answer.items.push_back({.result = how, .task = submission.id, .still_mine = mine});
    }
    tell(InsertEnded{insert.call, std::move(insert.batch), std::move(answer)});
  }
  // `count` tasks of a kind that this node holds, in as few calls as the core makes.
  void hold(const std::string& kind, int count) {
    for (int i = 0; i < count; ++i) (void)submit(kind);
    while (place_of<Insert>() < commands.size()) inserted();
  }
  std::vector<Start> starts() {
    std::vector<Start> all;
    for (Run& run : take_all<Run>()) {
      for (Start& start : run.in_turn) all.push_back(std::move(start));
    }
    return all;
  }
  void succeed(const Start& start, std::optional<Duration> took = std::nullopt) {
    tell(AttemptEnded{start.attempt, Succeeded{}, took});
  }
  // All outcomes on their way are in the store.
  std::vector<task::Transition> applied() {
    std::vector<task::Transition> all;
    while (auto apply = take<Apply>()) {
      std::vector<store::Applied> answers;
      for (const store::Outcome& outcome : apply->batch) {
        answers.push_back({.verdict = task::WriteVerdict::kApply, .state = outcome.transition.to});
        all.push_back(outcome.transition);
      }
      tell(ApplyEnded{apply->call, std::move(apply->batch), std::move(answers)});
    }
    return all;
  }

  TimePoint now = TimePoint(std::chrono::sys_days{std::chrono::year{2026} / 1 / 1});
  TimePoint joined_at;
  Commands commands;
  UlidSequence ids{7};
  std::uint64_t submits = 0;

 private:
  void keep(Commands out) {
    for (Command& command : out) commands.push_back(std::move(command));
  }

  std::optional<Core> core_;
};

}  // namespace recourse::engine
