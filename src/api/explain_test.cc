#include "api/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recourse::api {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class ExplainTest : public testing::Test {
 protected:
  ExplainTest() {
    task_.spec.kind = task::Kind("mail.welcome");
    task_.due_at = kNow - 1s;
    store::NodeRow node;
    node.info.name = "one";
    node.info.incarnation = kNode;
    node.info.kinds = {task::Kind("mail.*")};
    nodes_ = {node};
  }

  Explanation why() {
    return explain(task_, {.now = kNow,
                           .node = status_,
                           .nodes = nodes_,
                           .pauses = pauses_,
                           .paused_by = std::nullopt,
                           .is_outside = is_outside_});
  }

  static constexpr TimePoint kNow{1'000s};
  static inline const task::Incarnation kNode{Ulid{}};
  task::Task task_;
  engine::Core::Status status_{};
  std::vector<store::NodeRow> nodes_;
  store::Pauses pauses_;
  bool is_outside_ = false;
};

TEST_F(ExplainTest, WhatWaits) {
  EXPECT_EQ(why().code, "about_to_run");
  // The store's clock may be a little ahead of what this node knows of it.
  task_.due_at = kNow + 100ms;
  EXPECT_EQ(why().code, "about_to_run");
  task_.due_at = kNow + 90s;
  EXPECT_EQ(why().code, "not_due");
  EXPECT_EQ(why().until, kNow + 90s);
  EXPECT_THAT(why().text, HasSubstr("due to start in 1m30s"));
  task_.attempts = 1;
  EXPECT_THAT(why().text, HasSubstr("next attempt"));
  pauses_.kinds = {task_.spec.kind};
  EXPECT_EQ(why().code, "kind_paused");
}

TEST_F(ExplainTest, WhatIsDue) {
  status_.lanes = {{.kind = task_.spec.kind,
                    .queued = 3,
                    .running = 2,
                    .paused = false,
                    .breaker = policy::BreakerState::kClosed}};
  EXPECT_EQ(why().code, "behind_others");
  // Times of the node, which is a second behind the store.
  status_.store_ahead = 1s;
  status_.lanes.front().rate_allows_at = kNow + 1s;
  EXPECT_EQ(why().code, "rate_limited");
  EXPECT_EQ(why().until, kNow + 2s);
  status_.lanes.front().breaker = policy::BreakerState::kOpen;
  status_.lanes.front().probes_at = kNow + 29s;
  EXPECT_EQ(why().code, "breaker_open");
  EXPECT_EQ(why().until, kNow + 30s);
  EXPECT_THAT(why().text, HasSubstr("in 30s"));
  is_outside_ = true;
  EXPECT_EQ(why().code, "nobody_leases");
  nodes_.front().dead = true;
  EXPECT_EQ(why().code, "no_handler");
  status_.no_handler_after = 90s;
  EXPECT_THAT(why().text, HasSubstr("After 1m30s without one"));
}

TEST_F(ExplainTest, WhatIsInAShardOfOthers) {
  status_.node = kNode;
  status_.shards = {.first = 0, .last = 10};
  task_.spec.shard_key = task::ShardKey("acme");
  EXPECT_EQ(why().code, "other_shard");
  EXPECT_THAT(why().text, HasSubstr("no other node"));
  nodes_.push_back(nodes_.front());
  nodes_.back().info.incarnation = task::Incarnation(Ulid{.bytes = {1}});
  EXPECT_THAT(why().text, HasSubstr("another node takes it"));
  status_.shards = {};
  EXPECT_EQ(why().code, "about_to_run");
}

TEST_F(ExplainTest, WhatSomebodyHas) {
  task_.state = task::State::kRunning;
  task_.owner = task::Owner(kNode);
  EXPECT_EQ(why().code, "owned");
  EXPECT_THAT(why().text, HasSubstr("node one) has it and runs it"));
  status_.node = kNode;
  status_.lanes = {{.kind = task_.spec.kind,
                    .queued = 3,
                    .running = 2,
                    .paused = false,
                    .breaker = policy::BreakerState::kClosed}};
  EXPECT_THAT(why().text, HasSubstr("2 of its kind run there, 3 wait"));
  task_.due_at = kNow + 5s;
  EXPECT_EQ(why().code, "not_due");
  nodes_.front().dead = true;
  EXPECT_EQ(why().code, "owner_dead");
  task_.owner = task::Owner(task::WorkerName("w"));
  task_.lease_end = kNow + 10s;
  EXPECT_EQ(why().code, "leased");
  EXPECT_EQ(why().until, kNow + 10s);
  task_.lease_end = kNow - 1s;
  EXPECT_EQ(why().code, "lease_over");
  task_.requested = task::Move::kCancel;
  EXPECT_EQ(why().code, "request_waiting");
  EXPECT_THAT(why().text, HasSubstr("cancel was asked for; worker:w has it"));
}

TEST_F(ExplainTest, EveryStateIsExplained) {
  for (const task::State state : task::kAllStates) {
    task_.state = state;
    EXPECT_FALSE(why().text.empty());
    EXPECT_EQ(why().code == "finished", task::is_finished(state)) << to_string(state);
    EXPECT_EQ(why().code == "needs_person", task::needs_person(state)) << to_string(state);
  }
}

}  // namespace
}  // namespace recourse::api
