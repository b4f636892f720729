// The database server is killed in the middle of everything, twice, while a crowd inserts, claims
// and finishes: nothing is lost, nothing has two owners, and the books are right.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <set>
#include <vector>

#include "store/contract/parallel.h"
#include "tests/store_faults_support.h"

namespace recourse::tests {
namespace {

using namespace std::chrono_literals;
using namespace store;
using contract::claim_request;
using contract::kWithin;
using contract::must;
using contract::outcome_of;
using contract::pending;
using contract::spec_of;
using task::Kind;
using task::Task;
using task::TaskId;

constexpr int kNodes = 16;
constexpr int kBatches = 10;
constexpr int kBatchRows = 50;
constexpr int kTasks = kNodes * kBatches * kBatchRows;
// Shorter than the server is away, so that calls fail as well as recover.
constexpr Duration kPatience = 2s;

bool may_pass(const Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kInDoubt;
}

// What all nodes know together.
struct Crowd {
  OpenedStore& opened;
  UlidSource& ids;
  std::atomic<int> finished = 0;
  std::atomic<int> in_doubt = 0;
};

class Node {
 public:
  explicit Node(Crowd& crowd) : crowd_(crowd), self_(crowd.ids.next()) {}

  void join() {
    const NodeInfo info{.incarnation = self_, .name = "crowd", .kinds = {Kind("mail")}};
    while (true) {
      const auto joined = store().join(info, kPatience);
      if (joined) return;
      ASSERT_TRUE(may_pass(joined.error())) << joined.error().message;
    }
  }

  void insert_batch() {
    std::vector<Submission> batch;
    for (int i = 0; i < kBatchRows; ++i) {
      batch.push_back(pending(TaskId(crowd_.ids.next()), spec_of()));
    }
    // What failed plainly has not happened; what was in doubt may have.
    Novelty novelty = Novelty::kFresh;
    while (true) {
      const auto answer = store().insert(batch, novelty, kPatience);
      if (answer) {
        for (const Inserted& one : answer->items) {
          EXPECT_TRUE(one.result == Insertion::kInserted || one.result == Insertion::kRepeated);
        }
        return;
      }
      ASSERT_TRUE(may_pass(answer.error())) << answer.error().message;
      if (answer.error().code == ErrorCode::kInDoubt) novelty = Novelty::kRepeat;
    }
  }

  // Claims, and finishes what it has.
  void work() {
    const task::LeaseId lease(crowd_.ids.next());
    const std::vector<Quota> quotas{{.kind = Kind("mail"), .limit = kBatchRows}};
    auto claimed = store().claim(claim_request(self_, lease, quotas, kBatchRows), kPatience);
    if (claimed) {
      finish(claimed->tasks);
    } else if (claimed.error().code == ErrorCode::kInDoubt) {
      ++crowd_.in_doubt;
      finish(taken_under(lease));
    } else {
      ASSERT_EQ(claimed.error().code, ErrorCode::kUnavailable) << claimed.error().message;
    }
  }

  // What a call that claimed nothing has left in the store's record would show here.
  [[nodiscard]] std::size_t still_held() {
    return must(crowd_.opened.reader().held_by(self_, {}, kPageRowsMax, kWithin)).size();
  }
  [[nodiscard]] const std::vector<TaskId>& claimed() const { return claimed_; }

 private:
  Store& store() { return crowd_.opened.store(); }

  // The server that was asked is gone, and with it every commit that was still on its way.
  std::vector<Task> taken_under(task::LeaseId lease) {
    std::vector<Task> tasks;
    for (const Held& held :
         must(crowd_.opened.reader().held_by(self_, {}, kPageRowsMax, kWithin))) {
      if (held.ticket.lease == lease) {
        tasks.push_back(must(crowd_.opened.reader().find(held.task, kWithin)));
      }
    }
    return tasks;
  }

  void finish(const std::vector<Task>& tasks) {
    if (tasks.empty()) return;
    std::vector<Outcome> outcomes;
    for (const Task& task : tasks) {
      claimed_.push_back(task.id);
      outcomes.push_back(outcome_of(task, task::Move::kSucceed, task.due_at));
    }
    Result<std::vector<Applied>> applied = store().apply(outcomes, kPatience);
    while (!applied) {
      ASSERT_TRUE(may_pass(applied.error())) << applied.error().message;
      applied = store().apply(outcomes, kPatience);
    }
    for (const Applied& one : *applied) EXPECT_NE(one.verdict, task::WriteVerdict::kRefused);
    crowd_.finished += static_cast<int>(tasks.size());
    crowd_.finished.notify_all();
  }

  Crowd& crowd_;
  const task::Incarnation self_;
  std::vector<TaskId> claimed_;
};

class KilledServer : public testing::TestWithParam<ServerKind> {
 protected:
  void kill_twice() {
    for (const int mark : {kTasks / 4, kTasks / 2}) {
      for (int seen = crowd_.finished; seen < mark; seen = crowd_.finished) {
        crowd_.finished.wait(seen);
      }
      server_.kill();
      server_.start();
    }
  }

  void live(Node& node) {
    node.join();
    for (int batch = 0; batch < kBatches; ++batch) {
      node.insert_batch();
      node.work();
    }
    while (crowd_.finished < kTasks && !HasFatalFailure()) node.work();
  }

  PrivateServer server_{GetParam()};
  std::unique_ptr<OpenedStore> opened_ = must(open_at(GetParam(), server_.url()));
  SystemClock clock_;
  UlidSource ids_{clock_, 11};
  Crowd crowd_{.opened = *opened_, .ids = ids_};
};

TEST_P(KilledServer, LosesNothingAndGivesNothingToTwo) {
  std::deque<Node> nodes;
  for (int i = 0; i < kNodes; ++i) nodes.emplace_back(crowd_);

  contract::in_parallel(kNodes + 1, [&](int i) {
    if (i == kNodes) {
      kill_twice();
    } else {
      live(nodes.at(static_cast<std::size_t>(i)));
    }
  });

  std::vector<TaskId> claimed;
  for (Node& node : nodes) {
    EXPECT_EQ(node.still_held(), 0U);
    claimed.insert(claimed.end(), node.claimed().begin(), node.claimed().end());
  }
  EXPECT_EQ(claimed.size(), static_cast<std::size_t>(kTasks));
  EXPECT_EQ(std::set(claimed.begin(), claimed.end()).size(), claimed.size()) << "claimed twice";
  const std::vector<Task> rows = all_tasks(opened_->reader());
  EXPECT_EQ(rows.size(), static_cast<std::size_t>(kTasks));
  // One claim and one outcome raised each fence, and nothing else.
  EXPECT_TRUE(std::ranges::all_of(
      rows, [](const Task& task) { return task.ticket.fence == task::Fence(2); }));
  const Counts expected{{{Kind("mail"), task::State::kSucceeded}, kTasks}};
  EXPECT_EQ(must(opened_->reader().counts(kWithin)), expected);
  RecordProperty("claims_in_doubt", crowd_.in_doubt);
}

INSTANTIATE_TEST_SUITE_P(Servers, KilledServer,
                         testing::Values(ServerKind::kPostgres, ServerKind::kMariadb), case_name);

}  // namespace
}  // namespace recourse::tests
