#include "bench/store_ours.h"

#include "task/transition.h"

namespace recourse::bench {
namespace {

using task::Task;

class OurLine final : public Line {
 public:
  OurLine(store::Store& store, std::uint64_t seed)
      : store_(store), ids_(seed), owner_(ids_.next(wall_time())) {}

  void insert(std::span<const store::Submission> batch) override {
    const auto answer = must(store_.insert(batch, store::Novelty::kFresh, kPatience));
    if (answer.items.front().result != store::Insertion::kInserted) give_up("a fresh id was known");
    if (batch.front().claim) keep_born(batch, answer.now);
  }

  std::size_t claim(std::size_t limit) override {
    store::ClaimRequest request;
    request.owner = owner_;
    request.lease = task::LeaseId(ids_.next(wall_time()));
    request.limit = static_cast<int>(limit);
    request.quotas = {{.kind = kKind, .limit = request.limit}};
    std::vector<Task> tasks = must(store_.claim(request, kPatience)).tasks;
    const std::size_t count = tasks.size();
    if (count > 0) kept_.push_back(std::move(tasks));
    return count;
  }

  std::size_t succeed() override {
    if (kept_.empty()) return 0;
    const std::vector<Task> tasks = std::move(kept_.front());
    kept_.pop_front();
    const TimePoint now = wall_time();
    std::vector<store::Outcome> outcomes;
    outcomes.reserve(tasks.size());
    for (const Task& task : tasks) {
      task::Transition change = task::plan(task, task::Move::kSucceed, now);
      change.attempts += 1;
      change.first_started_at = now;
      outcomes.push_back({.transition = std::move(change), .attempt = std::nullopt});
    }
    for (const store::Applied& item : must(store_.apply(outcomes, kPatience))) {
      if (item.verdict != task::WriteVerdict::kApply) give_up("an owner's write was refused");
    }
    return tasks.size();
  }

 private:
  void keep_born(std::span<const store::Submission> batch, TimePoint now) {
    std::vector<Task> born;
    born.reserve(batch.size());
    for (const store::Submission& item : batch) {
      Task task;
      task.id = item.id;
      task.spec = item.spec;
      task.due_at = now;
      born.push_back(task::apply(std::move(task), task::Claim{.owner = item.claim->owner,
                                                              .lease = item.claim->lease,
                                                              .lease_end = std::nullopt}));
    }
    kept_.push_back(std::move(born));
  }

  store::Store& store_;
  UlidSequence ids_;
  task::Incarnation owner_;
  std::deque<std::vector<Task>> kept_;
};

}  // namespace

std::unique_ptr<Line> line_on(store::Store& store, std::uint64_t seed) {
  return std::make_unique<OurLine>(store, seed);
}

}  // namespace recourse::bench
