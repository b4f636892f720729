// Questions about messages, asked of a store in memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/manual_clock.h"
#include "message/records.h"
#include "store/memory/memory_store.h"

namespace recourse::message {
namespace {

using namespace std::chrono_literals;
using testing::SizeIs;

constexpr TimePoint kStart{std::chrono::sys_days{std::chrono::year{2026} / 5 / 1}};
const task::Kind kBill("bill");

class MessageRecords : public testing::Test {
 protected:
  task::TaskId record(const std::string& id, const std::string& group = "billing",
                      const std::string& business = "") {
    const Envelope envelope{
        .source = "shop", .group = group, .topic = "orders", .id = id, .business_id = business};
    auto spec = spec_of(envelope, "body of " + id, {.kind = kBill});
    EXPECT_TRUE(spec) << spec.error().message;
    clock_.advance(1s);
    const std::vector<store::Submission> batch{{.id = task::TaskId(ids_.next(clock_.now())),
                                                .spec = *std::move(spec),
                                                .delay = {},
                                                .claim = {}}};
    EXPECT_TRUE(opened_->store().insert(batch, store::Novelty::kFresh, 1s));
    return batch.front().id;
  }
  void move(task::TaskId id, task::Move move) {
    task::Order order;
    order.move = move;
    const auto answer = opened_->store().control(std::vector{id}, order, "test", 1s);
    ASSERT_TRUE(answer && answer->items.front().effect);
  }
  std::vector<std::string> ids_of(const Query& query) {
    std::vector<std::string> ids;
    const auto page = list(opened_->reader(), query, std::nullopt, 100, 1s);
    EXPECT_TRUE(page);
    for (const Record& record : page->records) ids.push_back(record.envelope.id);
    return ids;
  }

  ManualClock clock_{kStart};
  UlidSequence ids_{1};
  std::unique_ptr<store::OpenedStore> opened_ =
      store::memory::open(store::memory::make_data(), clock_);
};

// MSG-2
TEST_F(MessageRecords, AreReadBackAsTheyWereRecorded) {
  const task::TaskId id = record("m-1", "billing", "order-7");
  const auto found = find(opened_->reader(), {kBill}, id, 1s);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->envelope.id, "m-1");
  EXPECT_EQ(found->envelope.business_id, "order-7");
  EXPECT_EQ(found->body, "body of m-1");
  EXPECT_EQ(found->status, Status::kRetrying);
  EXPECT_EQ(found->retries_left, 5);
  EXPECT_EQ(found->created_at, clock_.now());
  EXPECT_EQ(find(opened_->reader(), {task::Kind("other")}, id, 1s).error().code,
            ErrorCode::kNotFound);
}

TEST_F(MessageRecords, AreFoundByWhatPeopleKnow) {
  record("m-1", "billing", "o-1");
  record("m-2", "shipping", "o-1");
  const TimePoint middle = clock_.now() + 500ms;
  record("m-3");
  using testing::ElementsAre;
  EXPECT_THAT(ids_of({.kinds = {kBill}}), ElementsAre("m-3", "m-2", "m-1"));
  EXPECT_THAT(ids_of({.kinds = {}}), SizeIs(0)) << "no kind is not every kind";
  EXPECT_THAT(ids_of({.kinds = {kBill}, .business_id = "o-1"}), ElementsAre("m-2", "m-1"));
  EXPECT_THAT(ids_of({.kinds = {kBill}, .business_id = "o-1", .group = "billing"}),
              ElementsAre("m-1"));
  EXPECT_THAT(ids_of({.kinds = {kBill}, .from = middle}), ElementsAre("m-3"));
  EXPECT_THAT(ids_of({.kinds = {kBill}, .before = middle}), ElementsAre("m-2", "m-1"));
}

// An id that is no plain text, or too long to search for, is found all the same.
TEST_F(MessageRecords, AreFoundByIdsOfAnyBytes) {
  record("line\nbreak");
  EXPECT_THAT(ids_of({.kinds = {kBill}, .message_id = "line\nbreak"}),
              testing::ElementsAre("line\nbreak"));
}

// MSG-9
TEST_F(MessageRecords, OfSeveralGroupsTheOneThatNeedsAttentionIsTold) {
  const task::TaskId processed = record("m-1", "a");
  const task::TaskId ignored = record("m-1", "b");
  const task::TaskId retrying = record("m-1", "c");
  const auto told = [&](const std::optional<std::string>& group = std::nullopt) {
    const auto found = find_by_message_id(opened_->reader(), {kBill}, "m-1", group, 1s);
    EXPECT_TRUE(found && *found);
    return (*found)->id;
  };
  move(processed, task::Move::kResolve);
  move(ignored, task::Move::kIgnore);
  EXPECT_EQ(told(), retrying);
  EXPECT_EQ(told("a"), processed);
  move(retrying, task::Move::kResolve);
  EXPECT_EQ(told(), ignored);
  const auto unknown = find_by_message_id(opened_->reader(), {kBill}, "m-2", std::nullopt, 1s);
  ASSERT_TRUE(unknown);
  EXPECT_FALSE(*unknown);
}

// What only published its message again says nothing of it, in no figure.
TEST_F(MessageRecords, ThatWerePublishedAgainCountForNothing) {
  move(record("m-1"), task::Move::kCancel);
  move(record("m-1"), task::Move::kCancel);
  const task::TaskId processed = record("m-1");
  move(processed, task::Move::kResolve);
  const task::TaskId replayed = record("m-2");
  move(replayed, task::Move::kCancel);

  const auto summary = summarise(opened_->reader(), {kBill}, std::nullopt, 1s);
  const auto told = [&](const std::string& id) {
    return find_by_message_id(opened_->reader(), {kBill}, id, std::nullopt, 1s).value()->id;
  };

  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->counts.at(Status::kProcessed), 1);
  EXPECT_EQ(summary->counts.at(Status::kIgnored), 0);
  EXPECT_EQ(summary->cancelled, 3);
  EXPECT_EQ(summary->success_rate, 1.0);
  EXPECT_EQ(told("m-1"), processed);
  EXPECT_EQ(told("m-2"), replayed) << "there is nothing else to tell";
}

// MSG-10, MSG-11
TEST_F(MessageRecords, AreSummedUpAndCleanedUp) {
  record("m-1");
  move(record("m-2"), task::Move::kResolve);
  move(record("m-3"), task::Move::kIgnore);
  const auto summary = summarise(opened_->reader(), {kBill}, std::nullopt, 1s);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->counts.at(Status::kRetrying), 1);
  EXPECT_EQ(summary->success_rate, 0.5);
  EXPECT_EQ(summary->average_retries, 0.0);
  NullLog log;
  clock_.advance(1h);
  const auto cleaned = clean(*opened_, {kBill}, clock_.now(), clock_.now() - 2h, "test", log, 1s);
  ASSERT_TRUE(cleaned);
  EXPECT_EQ(*cleaned, 1U) << "the ignored one is kept for longer";
  EXPECT_THAT(ids_of({.kinds = {kBill}}), testing::ElementsAre("m-3", "m-1"));
}

}  // namespace
}  // namespace recourse::message
