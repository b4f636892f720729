// The loan the other way round: a caller's transaction on SQLite's one writer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/ulid_source.h"
#include "store/contract/contract.h"
#include "store/sqlite/sqlite_store.h"
#include "tests/support/temporary_directory.h"

namespace recourse::store::sqlite {
namespace {

using namespace std::chrono_literals;
using contract::code_of;
using contract::keyed;
using contract::kWithin;
using contract::must;
using contract::pending;
using contract::spec_of;
using task::Kind;
using task::State;
using task::TaskId;
using task::TaskSpec;

// Takes far longer than any test.
constexpr std::string_view kEndlessWrite =
    "INSERT INTO shop_order WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
    " LIMIT 1000000000) SELECT i FROM n";

class SqliteTransact : public testing::Test {
 protected:
  void SetUp() override {
    const auto made = opened_->creates().transact(kWithin, [](Guest& own) -> Result<> {
      return run(own, "CREATE TABLE shop_order (id INTEGER PRIMARY KEY)");
    });
    ASSERT_TRUE(made) << made.error().message;
  }

  static Result<> run(Guest& own, std::string_view statement) {
    const auto done = own.execute(statement, {});
    return done ? Result<>{} : fail(done.error());
  }

  Submission item(TaskSpec spec = spec_of()) {
    return pending(TaskId(ids_.next()), std::move(spec));
  }
  Counts counts() { return must(opened_->reader().counts(kWithin)); }
  std::size_t orders() {
    std::int64_t count = 0;
    const auto asked = opened_->creates().transact(kWithin, [&](Guest& own) -> Result<> {
      const auto rows = own.query("SELECT COUNT(*) FROM shop_order", {});
      if (!rows) return fail(rows.error());
      count = std::get<std::int64_t>(rows->at(0).at(0));
      return {};
    });
    EXPECT_TRUE(asked);
    return static_cast<std::size_t>(count);
  }

  tests::TemporaryDirectory directory_;
  SystemClock clock_;
  UlidSource ids_{clock_, 7};
  std::unique_ptr<OpenedStore> opened_ = must(open(directory_.path() / "store.db", clock_));
};

TEST_F(SqliteTransact, CommitsTheCallersRowsAndTheTasksTogether) {
  const auto done = opened_->creates().transact(kWithin, [&](Guest& own) -> Result<> {
    if (Result<> mine = run(own, "INSERT INTO shop_order VALUES (7)"); !mine) return mine;
    const auto answer = own.submit(std::vector{item(keyed("order-7")), item()});
    return answer ? Result<>{} : fail(answer.error());
  });

  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(orders(), 1U);
  EXPECT_EQ(counts(), (Counts{{{Kind("mail"), State::kPending}, 2}}));
}

TEST_F(SqliteTransact, LeavesNothingWhenTheCallerFails) {
  TaskSpec spec = keyed("order-7");
  spec.search_keys = {{"order", "7"}};
  int runs = 0;
  const auto done = opened_->creates().transact(kWithin, [&](Guest& own) -> Result<> {
    ++runs;
    (void)must(own.submit(std::vector{item(spec)}));
    if (Result<> mine = run(own, "INSERT INTO shop_order VALUES (7)"); !mine) return mine;
    return fail(ErrorCode::kConflict, "the caller thought better of it");
  });

  EXPECT_EQ(code_of(done), ErrorCode::kConflict);
  EXPECT_EQ(runs, 1) << "a caller's work is never repeated";
  EXPECT_EQ(orders(), 0U);
  EXPECT_EQ(counts(), Counts{});
  const auto again =
      must(opened_->store().insert(std::vector{item(spec)}, Novelty::kFresh, kWithin));
  EXPECT_EQ(again.items[0].result, Insertion::kInserted);
}

TEST_F(SqliteTransact, GoesOnAfterARefusedSubmitAndTellsWhoHasAKey) {
  const Submission first = item(keyed("order-7"));
  (void)must(opened_->store().insert(std::vector{first}, Novelty::kFresh, kWithin));
  const auto done = opened_->creates().transact(kWithin, [&](Guest& own) -> Result<> {
    Submission born = item();
    born.claim = BirthClaim{.owner = task::Incarnation(ids_.next()), .lease = {}};
    EXPECT_EQ(code_of(own.submit(std::vector{born})), ErrorCode::kInvalid);
    const InsertAnswer answer =
        must(own.submit(std::vector{item(keyed("order-7")), first, item()}));
    EXPECT_EQ(answer.items[0].result, Insertion::kKeyTaken);
    EXPECT_EQ(answer.items[0].task, first.id);
    EXPECT_EQ(answer.items[1].result, Insertion::kRepeated);
    EXPECT_EQ(answer.items[2].result, Insertion::kInserted);
    return run(own, "INSERT INTO shop_order VALUES (7)");
  });

  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(orders(), 1U);
  EXPECT_EQ(counts(), (Counts{{{Kind("mail"), State::kPending}, 2}}));
}

// SQLite rolls back everything when a statement that writes is cut off, the work of others in the
// same commit included.
TEST_F(SqliteTransact, CutOffAtItsDeadlineHarmsNobodyInTheSameCommit) {
  std::promise<void> entered;
  std::promise<void> leave;
  auto holder = std::async(std::launch::async, [&] {
    return opened_->creates().transact(kWithin, [&](Guest&) -> Result<> {
      entered.set_value();
      leave.get_future().wait();
      return {};
    });
  });
  entered.get_future().wait();
  const auto insert = [&] {
    return opened_->store().insert(std::vector{item()}, Novelty::kFresh, kWithin);
  };
  // All of these wait for the holder and then share one commit.
  auto before = std::async(std::launch::async, insert);
  EXPECT_EQ(before.wait_for(50ms), std::future_status::timeout);
  Result<> ignored;
  auto endless = std::async(std::launch::async, [&] {
    return opened_->creates().transact(400ms, [&](Guest& own) -> Result<> {
      if (Result<> mine = run(own, "INSERT INTO shop_order VALUES (-1)"); !mine) return mine;
      ignored = run(own, kEndlessWrite);
      // Careless: the transaction is lost, and this must not be committed without it.
      (void)own.submit(std::vector{item()});
      return {};
    });
  });
  EXPECT_EQ(endless.wait_for(50ms), std::future_status::timeout);
  auto after = std::async(std::launch::async, insert);
  EXPECT_EQ(after.wait_for(50ms), std::future_status::timeout);
  leave.set_value();

  EXPECT_EQ(code_of(holder.get()), std::nullopt);
  EXPECT_EQ(code_of(endless.get()), ErrorCode::kUnavailable);
  EXPECT_EQ(code_of(ignored), ErrorCode::kUnavailable);
  EXPECT_EQ(code_of(before.get()), std::nullopt);
  EXPECT_EQ(code_of(after.get()), std::nullopt);
  EXPECT_EQ(orders(), 0U);
  EXPECT_EQ(counts(), (Counts{{{Kind("mail"), State::kPending}, 2}}));
}

// A guest's code runs on its own thread: whoever hangs there hangs alone.
TEST_F(SqliteTransact, AGuestThatHangsIsCutOffAndHoldsUpNobodyForLonger) {
  std::promise<void> begun;
  std::promise<void> wake;
  auto hanging = std::async(std::launch::async, [&] {
    Result<> late;
    const auto done = opened_->creates().transact(300ms, [&](Guest& own) -> Result<> {
      if (Result<> mine = run(own, "INSERT INTO shop_order VALUES (1)"); !mine) return mine;
      begun.set_value();
      wake.get_future().wait();
      late = run(own, "INSERT INTO shop_order VALUES (2)");
      return {};
    });
    EXPECT_EQ(code_of(late), ErrorCode::kUnavailable) << "its transaction is gone";
    return done;
  });
  begun.get_future().wait();

  EXPECT_EQ(code_of(opened_->store().insert(std::vector{item()}, Novelty::kFresh, kWithin)),
            std::nullopt);
  EXPECT_EQ(orders(), 0U);
  EXPECT_EQ(hanging.wait_for(0ms), std::future_status::timeout) << "it hangs, and nobody waits";
  wake.set_value();
  EXPECT_EQ(code_of(hanging.get()), ErrorCode::kUnavailable);
  EXPECT_EQ(orders(), 0U);
}

TEST_F(SqliteTransact, AGuestWhoCallsTheStoreIsToldInsteadOfWaitingForItself) {
  const auto done = opened_->creates().transact(kWithin, [&](Guest&) -> Result<> {
    EXPECT_EQ(code_of(opened_->store().insert(std::vector{item()}, Novelty::kFresh, kWithin)),
              ErrorCode::kInvalid);
    EXPECT_EQ(code_of(opened_->creates().transact(kWithin, [](Guest&) { return Result<>(); })),
              ErrorCode::kInvalid);
    return {};
  });
  EXPECT_EQ(code_of(done), std::nullopt);
  // Afterwards it is a thread like any other.
  EXPECT_EQ(code_of(opened_->store().insert(std::vector{item()}, Novelty::kFresh, kWithin)),
            std::nullopt);
}

TEST_F(SqliteTransact, WhatAGuestThrowsComesOutAndLeavesNothing) {
  EXPECT_THROW((void)opened_->creates().transact(kWithin,
                                                 [&](Guest& own) -> Result<> {
                                                   (void)run(own,
                                                             "INSERT INTO shop_order VALUES (1)");
                                                   throw std::runtime_error("thought better of it");
                                                 }),
               std::runtime_error);
  EXPECT_EQ(orders(), 0U);
}

}  // namespace
}  // namespace recourse::store::sqlite
