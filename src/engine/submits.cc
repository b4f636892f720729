#include "engine/submits.h"

#include <chrono>
#include <utility>

namespace recourse::engine {

// It deletes itself when it has been answered, which happens exactly once.
class Submits::Waiter final : public SubmitWaiter {
 public:
  Waiter(std::shared_ptr<State> state, std::size_t place)
      : state_(std::move(state)), place_(place) {}

  void answered(const SubmitAnswer& answer) override {
    const std::unique_ptr<Waiter> self(this);
    MutexLock lock(state_->mutex);
    if (answer.result) {
      state_->answers[place_] = Answer{.result = *answer.result, .task = answer.task};
    } else {
      state_->answers[place_] = fail(answer.result.error());
    }
    if (--state_->missing == 0) state_->all_there.notify_all();
  }

 private:
  const std::shared_ptr<State> state_;
  const std::size_t place_;
};

Submits Submits::send(Node& node, std::vector<store::Submission> batch, store::Novelty novelty) {
  auto state = std::make_shared<State>();
  {
    MutexLock lock(state->mutex);
    state->answers.resize(batch.size());
    state->missing = batch.size();
  }
  for (std::size_t i = 0; i < batch.size(); ++i) {
    node.submit(std::move(batch[i]), novelty, *std::make_unique<Waiter>(state, i).release());
  }
  return Submits(std::move(state));
}

bool Submits::wait(Duration patience) const {
  const auto until = std::chrono::steady_clock::now() + patience;
  MutexLock lock(state_->mutex);
  while (state_->missing > 0) {
    if (state_->all_there.wait_until(state_->mutex, until) == std::cv_status::timeout) {
      return state_->missing == 0;
    }
  }
  return true;
}

std::vector<Result<Submits::Answer>> Submits::results() const {
  std::vector<Result<Answer>> results;
  MutexLock lock(state_->mutex);
  for (const auto& answer : state_->answers) {
    if (answer) {
      results.push_back(*answer);
    } else {
      results.emplace_back(fail(ErrorCode::kInDoubt, "the store has not answered in time"));
    }
  }
  return results;
}

}  // namespace recourse::engine
