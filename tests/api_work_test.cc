// Leases, the line of those who wait for them, and bulk jobs, on a store in memory.
#include <condition_variable>
#include <mutex>

#include "api/bulk_jobs.h"
#include "api/lease_line.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/lease_desk.h"
#include "tests/api_fixture.h"

namespace recourse::api {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class LeaseDeskTest : public OnAMemoryStore {
 protected:
  LeaseDeskTest() {
    engine::KindRules rules;
    rules.settings.outside = true;
    EXPECT_TRUE(kinds_.add("work", rules));
  }

  engine::LeaseWish wish(const std::string& worker, Duration lease_for = 30s) {
    return {.worker = task::WorkerName(worker),
            .lease = task::LeaseId(ids_.next()),
            .kinds = {task::Kind("work")},
            .limit = 10,
            .lease_for = lease_for};
  }
  Result<engine::Reported> report(const task::Task& leased, engine::AttemptResult result) {
    return desk_.report(
        {.held = {leased.id, leased.ticket}, .result = std::move(result), .took = 2s}, clock_.now(),
        1s);
  }
  static engine::Decided retry() {
    return {policy::retry(policy::Category::kBizRetryable, "CODE", "why")};
  }

  engine::KindTable kinds_;
  engine::LeaseDesk desk_{*opened_, kinds_, 1};
};

TEST_F(LeaseDeskTest, ATaskHasOneWorkerUntilItsLeaseEnds) {
  const task::TaskId id = submit("work");
  const auto first = desk_.lease(wish("a"), 1s);
  ASSERT_TRUE(first);
  ASSERT_THAT(*first, SizeIs(1));
  EXPECT_THAT(*desk_.lease(wish("b"), 1s), IsEmpty());
  const auto renewed =
      desk_.renew({{first->front().id, first->front().ticket}}, 1min, clock_.now(), 1s);
  EXPECT_EQ(renewed->front()->lease_end, clock_.now() + 1min);
  clock_.advance(61s);
  const auto second = desk_.lease(wish("b"), 1s);
  ASSERT_THAT(*second, SizeIs(1));
  EXPECT_EQ(second->front().id, id);
  EXPECT_FALSE(
      desk_.renew({{first->front().id, first->front().ticket}}, 1min, clock_.now(), 1s)->front());
  EXPECT_EQ(report(first->front(), engine::Succeeded{})->verdict, task::WriteVerdict::kRefused);
  EXPECT_EQ(task(id).state, task::State::kRunning);
  const auto done = report(second->front(), engine::Succeeded{});
  EXPECT_EQ(done->state, task::State::kSucceeded);
  ASSERT_TRUE(done->moved);
  EXPECT_EQ(done->moved->to, task::State::kSucceeded);
  EXPECT_EQ(done->moved->took, 2s);
  // Repeating is recognised, and counted once.
  const auto again = report(second->front(), engine::Succeeded{});
  EXPECT_EQ(again->verdict, task::WriteVerdict::kAlreadyApplied);
  EXPECT_FALSE(again->moved);
}

TEST_F(LeaseDeskTest, AFailureIsRetriedAndThenDead) {
  const task::TaskId id = submit("work");
  const auto first = desk_.lease(wish("a"), 1s);
  const auto again = report(first->front(), retry());
  EXPECT_EQ(again->state, task::State::kPending);
  EXPECT_EQ(again->moved->category, policy::Category::kBizRetryable);
  EXPECT_GT(task(id).due_at, clock_.now());
  EXPECT_EQ(task(id).attempts, 1);
  EXPECT_THAT(*desk_.lease(wish("a"), 1s), IsEmpty());
  clock_.advance(10min);
  const auto second = desk_.lease(wish("a"), 1s);
  ASSERT_THAT(*second, SizeIs(1));
  EXPECT_EQ(report(second->front(), retry())->state, task::State::kDead);
  const auto attempts = opened_->reader().attempts(id, 1s);
  ASSERT_THAT(*attempts, SizeIs(2));
  EXPECT_EQ(attempts->back().owner, "worker:a");
  EXPECT_EQ(attempts->back().ended_at - attempts->back().started_at, 2s);
}

TEST_F(LeaseDeskTest, ATaskThatItsWorkersDieOfEndsInFrontOfAPerson) {
  const task::TaskId id = submit("work");
  int leases = 0;
  while (leases < 20 && !desk_.lease(wish("a", 1s), 1s)->empty()) {
    ++leases;
    clock_.advance(2s);
  }
  EXPECT_EQ(leases, 1 + task::kDeathsMax) << "from the second on, a start is recorded";
  EXPECT_EQ(task(id).state, task::State::kDead);
  EXPECT_EQ(task(id).last_error->code, task::kOwnersDied);
}

TEST_F(LeaseDeskTest, GivesNothingOfAPausedKindAndNothingPastItsDeadline) {
  const task::TaskId late = submit("work", clock_.now() + 1s);
  ASSERT_TRUE(opened_->store().pause_kind(task::Kind("work"), true, "olga", 1s));
  EXPECT_THAT(*desk_.lease(wish("a"), 1s), IsEmpty());
  ASSERT_TRUE(opened_->store().pause_kind(task::Kind("work"), false, "olga", 1s));
  clock_.advance(2s);
  EXPECT_THAT(*desk_.lease(wish("a"), 1s), IsEmpty());
  EXPECT_EQ(task(late).state, task::State::kDead);
  EXPECT_EQ(task(late).last_error->code, "DEADLINE");
}

// What a worker was answered with, whenever that is.
class Waiter {
 public:
  LeaseLine::Leased leased() {
    return [this](const Result<std::vector<task::Task>>& tasks) {
      const std::lock_guard lock(mutex_);
      count_ = tasks ? static_cast<int>(tasks->size()) : -1;
      changed_.notify_all();
    };
  }
  // Of tasks; -1: an error.
  int count() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return count_.has_value(); });
    return *count_;
  }
  bool has_answer() {
    const std::lock_guard lock(mutex_);
    return count_.has_value();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<int> count_;
};

class LeaseLineTest : public LeaseDeskTest {
 protected:
  SystemClock real_;
};

TEST_F(LeaseLineTest, ServesThoseWhoWaitInTheirOrder) {
  LeaseLine line(desk_, opened_->reader(), real_);
  Waiter first;
  Waiter second;
  auto one = wish("a");
  one.limit = 1;
  ASSERT_TRUE(line.wait(one, 1h, first.leased()));
  ASSERT_TRUE(line.wait(wish("b"), 1h, second.leased()));
  (void)submit("work");
  line.nudge();
  EXPECT_EQ(first.count(), 1);
  EXPECT_FALSE(second.has_answer());
  (void)submit("work");
  line.nudge();
  EXPECT_EQ(second.count(), 1);
}

TEST_F(LeaseLineTest, WhoeverWaitedLongEnoughGetsNothing) {
  LeaseLine line(desk_, opened_->reader(), real_);
  Waiter waiter;
  ASSERT_TRUE(line.wait(wish("a"), 0s, waiter.leased()));
  EXPECT_EQ(waiter.count(), 0);
}

TEST_F(LeaseLineTest, WhoeverHasLeftGetsNoWork) {
  const task::TaskId id = submit("work");
  LeaseLine line(desk_, opened_->reader(), real_);
  Waiter gone;
  ASSERT_TRUE(line.wait(wish("a"), 1h, gone.leased(), [] { return true; }));
  EXPECT_EQ(gone.count(), 0);
  EXPECT_EQ(task(id).state, task::State::kPending);
}

TEST_F(LeaseLineTest, ALineThatClosesAnswersAllAndTakesNobody) {
  LeaseLine line(desk_, opened_->reader(), real_);
  Waiter waiter;
  ASSERT_TRUE(line.wait(wish("a"), 1h, waiter.leased()));
  line.close();
  EXPECT_EQ(waiter.count(), 0);
  EXPECT_FALSE(line.wait(wish("a"), 1h, waiter.leased()));
}

class BulkJobsTest : public OnAMemoryStore {
 protected:
  static BulkJob job_to_cancel() {
    BulkJob job;
    job.action = Action::kCancel;
    job.filter = {{"kind", "work"}};
    job.by = "olga";
    return job;
  }
  static bool ends(BulkJobs& jobs, const std::string& id) {
    for (int i = 0; i < 2'000; ++i) {
      if (jobs.find(id).value()->state != "running") return true;
      std::this_thread::sleep_for(5ms);
    }
    return false;
  }

  NullLog log_;
};

TEST_F(BulkJobsTest, CatchesAllThatIsThereWhenItBegins) {
  for (int i = 0; i < 3; ++i) (void)submit("work");
  std::atomic<int> told = 0;
  BulkJobs jobs(*opened_, ids_, clock_, log_, [&] { ++told; });
  const auto started = jobs.start(job_to_cancel());
  ASSERT_TRUE(started);
  EXPECT_EQ(started->as_of, clock_.now());
  ASSERT_TRUE(ends(jobs, started->id));
  EXPECT_EQ(jobs.find(started->id).value()->state, "done");
  EXPECT_EQ(jobs.find(started->id).value()->done, 3U);
  EXPECT_EQ(jobs.find(started->id).value()->as_of, clock_.now());
  while (told == 0) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(jobs.cancel(started->id).error().code, ErrorCode::kConflict);
}

TEST_F(BulkJobsTest, CatchesNothingThatCameLater) {
  const task::TaskId first = submit("work");
  std::string id;
  {
    // Nobody runs it yet.
    BulkJob job = job_to_cancel();
    job.id = id = "blk_waits";
    ASSERT_TRUE(opened_->records().add({.space = "bulk", .name = id, .value = to_value(job)},
                                       Duration(24h * 7), 1s));
  }
  clock_.advance(1s);
  const task::TaskId later = submit("work");
  BulkJobs jobs(*opened_, ids_, clock_, log_);
  ASSERT_TRUE(ends(jobs, id));
  EXPECT_EQ(task(first).state, task::State::kCancelled);
  EXPECT_EQ(task(later).state, task::State::kPending);
}

TEST_F(BulkJobsTest, AnotherGoesOnWhereARunnerDied) {
  (void)submit("work");
  BulkJob orphan = job_to_cancel();
  orphan.id = "blk_orphan";
  orphan.as_of = clock_.now();
  orphan.beat_at = clock_.now() - 31s;
  orphan.done = 5;
  ASSERT_TRUE(opened_->records().add(
      {.space = "bulk", .name = orphan.id, .value = to_value(orphan)}, {}, 1s));
  BulkJob alive = orphan;
  alive.id = "blk_runs";
  alive.beat_at = clock_.now();
  ASSERT_TRUE(opened_->records().add({.space = "bulk", .name = alive.id, .value = to_value(alive)},
                                     {}, 1s));
  BulkJobs jobs(*opened_, ids_, clock_, log_);
  ASSERT_TRUE(ends(jobs, orphan.id));
  EXPECT_EQ(jobs.find(orphan.id).value()->done, 6U);
  // Its own runner lives: it is left alone until it is cancelled.
  EXPECT_EQ(jobs.find(alive.id).value()->state, "running");
  EXPECT_EQ(jobs.cancel(alive.id)->state, "cancelled");
}

TEST_F(BulkJobsTest, ANewJobRunsHoweverManyOldOnesThereAre) {
  BulkJob old = job_to_cancel();
  old.state = "done";
  for (int i = 0; i < 600; ++i) {
    old.id = "blk_0" + std::to_string(1'000 + i);
    ASSERT_TRUE(
        opened_->records().add({.space = "bulk", .name = old.id, .value = to_value(old)}, {}, 1s));
  }
  const task::TaskId id = submit("work");
  BulkJob job = job_to_cancel();
  BulkJobs jobs(*opened_, ids_, clock_, log_);
  const auto started = jobs.start(job);
  ASSERT_TRUE(ends(jobs, started->id));
  EXPECT_EQ(task(id).state, task::State::kCancelled);
  EXPECT_THAT(*jobs.list(), SizeIs(601));
}

}  // namespace
}  // namespace recourse::api
