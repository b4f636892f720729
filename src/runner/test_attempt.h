// For tests: one attempt as a runner gets it, without an engine around it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "engine/attempt_run.h"
#include "engine/inbox.h"

namespace recourse::runner {

inline task::Task test_task() {
  task::Task task;
  task.id = task::TaskId(parse_ulid("01ARZ3NDEKTSV4RRFFQ69G5FAV").value());
  task.spec.kind = task::Kind("grant-points");
  task.spec.payload = R"({"n": 12345678901234567890})";
  task.spec.timeout = std::chrono::seconds(30);
  task.ticket = {.fence = task::Fence(7),
                 .lease = task::LeaseId(parse_ulid("01BX5ZZKBKACTAV9WEVGEMMVRZ").value())};
  return task;
}

class TestAttempt {
 public:
  explicit TestAttempt(task::Task task = test_task(), bool probe_first = false)
      : run_(std::make_shared<engine::AttemptRun>(
            engine::Start{.attempt = engine::AttemptId(1),
                          .task = std::make_shared<const task::Task>(std::move(task)),
                          .number = 3,
                          .probe_first = probe_first},
            inbox_)) {
    run_->measure();
  }

  void start(const engine::Handler& handler) { engine::run_attempt(run_, handler, nullptr); }
  [[nodiscard]] const std::shared_ptr<engine::AttemptRun>& run() const { return run_; }

  // Waits for it.
  engine::AttemptResult result() {
    while (events_.empty()) inbox_->take(events_, std::chrono::seconds(60));
    EXPECT_EQ(events_.size(), 1U);
    return std::get<engine::AttemptEnded>(events_.front()).result;
  }
  engine::AttemptResult result_of(const engine::Handler& handler) {
    start(handler);
    return result();
  }

 private:
  std::shared_ptr<engine::Inbox> inbox_ = std::make_shared<engine::Inbox>();
  std::shared_ptr<engine::AttemptRun> run_;
  std::vector<engine::Event> events_;
};

inline bool succeeded(const engine::AttemptResult& result) {
  return std::holds_alternative<engine::Succeeded>(result);
}

inline policy::Decision decided(const engine::AttemptResult& result) {
  const auto* decision = std::get_if<engine::Decided>(&result);
  if (decision != nullptr) return decision->decision;
  ADD_FAILURE() << "nothing was decided, but result " << result.index();
  return {};
}

template <class Failure>
Failure failed(const engine::AttemptResult& result) {
  const auto* failure = std::get_if<engine::Failed>(&result);
  if (failure != nullptr) {
    if (const auto* one = std::get_if<Failure>(&failure->failure)) return *one;
    ADD_FAILURE() << "another failure: " << policy::describe(failure->failure).message;
  } else {
    ADD_FAILURE() << "no failure, but result " << result.index();
  }
  return {};
}

}  // namespace recourse::runner
