// MSG-5: what is told of each attempt, and how a consumer's own words travel in a note.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "message/order_wait.h"
#include "message/records.h"
#include "store/limits.h"

namespace recourse::message {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{std::chrono::sys_days{std::chrono::year{2026} / 5 / 1}};

std::size_t characters_in(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

store::Attempt failed(int number, Duration delay) {
  store::Attempt attempt;
  attempt.number = number;
  attempt.started_at = kStart + number * 10s;
  attempt.ended_at = attempt.started_at + 1s;
  attempt.error = task::Reason{"CONNECTION_TIMEOUT", "the database did not answer"};
  attempt.next_due = attempt.ended_at + delay;
  return attempt;
}

store::Note noted(int attempt, const AttemptDetail& detail) {
  store::Note note;
  note.attempt = attempt;
  note.text = to_note(detail);
  return note;
}

TEST(MessageDetail, GoesThereAndBack) {
  const AttemptDetail detail{.exception_type = "java.sql.SQLException",
                             .consumer_ip = "192.168.1.100",
                             .stack_trace = "at Shop.pay(Shop.java:7)\n\tat Main.main",
                             .custom_data = R"({"user_id":"12345","order_amount":100.00})"};
  const std::string note = to_note(detail);
  EXPECT_TRUE(note.starts_with(kDetailMark));
  EXPECT_EQ(note.find('\n'), std::string::npos);
  const auto back = detail_of(note);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->exception_type, detail.exception_type);
  EXPECT_EQ(back->consumer_ip, detail.consumer_ip);
  EXPECT_EQ(back->stack_trace, detail.stack_trace);
  // Byte for byte: amounts keep their zeros.
  EXPECT_EQ(back->custom_data, detail.custom_data);
}

TEST(MessageDetail, CutsTheStackTraceFirst) {
  std::string trace;
  for (int i = 0; i < 500; ++i) trace += "at 订单.支付(\"Shop.java\")\n";
  const AttemptDetail detail{.exception_type = "IOException",
                             .consumer_ip = "::1",
                             .stack_trace = trace,
                             .custom_data = R"({"order":"7"})"};
  const std::string note = to_note(detail);
  EXPECT_LE(characters_in(note), store::kNoteCharactersMax);
  // Nearly all of the room is used.
  EXPECT_GE(characters_in(note), store::kNoteCharactersMax - 2);
  const auto back = detail_of(note);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->custom_data, detail.custom_data);
  EXPECT_TRUE(trace.starts_with(back->stack_trace));
}

TEST(MessageDetail, LeavesOutAnObjectThatDoesNotFit) {
  const AttemptDetail detail{.exception_type = std::string(5'000, 'E'),
                             .consumer_ip = std::string(5'000, '1'),
                             .stack_trace = "at Shop.pay",
                             .custom_data = R"({"a":")" + std::string(990, 'x') + R"("})"};
  const std::string note = to_note(detail);
  EXPECT_LE(characters_in(note), store::kNoteCharactersMax);
  const auto back = detail_of(note);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->custom_data, "");
  EXPECT_EQ(back->stack_trace, "at Shop.pay");
}

TEST(MessageDetail, CleansBytesThatNoStoreTakes) {
  const auto back = detail_of(to_note({.exception_type = "bad \xFF byte"}));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->exception_type, "bad \xEF\xBF\xBD byte");
}

TEST(MessageDetail, IsNotReadOutOfWhatAHandlerSaid) {
  EXPECT_FALSE(detail_of("half of the rows are in"));
  EXPECT_FALSE(detail_of("message: to you"));
  EXPECT_FALSE(detail_of("message:[1]"));
}

TEST(MessageHistory, TellsFailuresOldestFirst) {
  task::Task task;
  task.state = task::State::kPending;
  const std::vector<store::Attempt> attempts{failed(1, 1s), failed(2, 2s)};
  const std::vector<store::Note> notes{
      noted(2, {.exception_type = "BusinessException", .consumer_ip = "192.168.1.101"})};
  const std::vector<HistoryEntry> history = history_of(task, attempts, notes);
  ASSERT_EQ(history.size(), 2U);
  EXPECT_EQ(history[0].attempt, 1);
  EXPECT_EQ(history[0].operation_time, kStart + 10s);
  EXPECT_EQ(history[0].error_code, "CONNECTION_TIMEOUT");
  EXPECT_EQ(history[0].error_message, "the database did not answer");
  EXPECT_EQ(history[0].retry_delay, 1s);
  EXPECT_EQ(history[0].result, "FAILED");
  EXPECT_EQ(history[0].exception_type, "");
  EXPECT_EQ(history[1].exception_type, "BusinessException");
  EXPECT_EQ(history[1].consumer_ip, "192.168.1.101");
  EXPECT_EQ(history[1].retry_delay, 2s);
}

TEST(MessageHistory, EndsWithTheRunThatSucceeded) {
  task::Task task;
  task.state = task::State::kSucceeded;
  task.attempts = 2;
  task.ended_at = kStart + 1min;
  const auto history = history_of(task, {failed(1, 1s)}, {});
  ASSERT_EQ(history.size(), 2U);
  EXPECT_EQ(history[1].attempt, 2);
  EXPECT_EQ(history[1].result, "SUCCESS");
  EXPECT_EQ(history[1].operation_time, kStart + 1min);
  EXPECT_FALSE(history[1].retry_delay);
}

// Neither waiting for its turn nor a person's word is an attempt.
TEST(MessageHistory, LeavesOutWhatWasNoFailure) {
  task::Task task;
  task.state = task::State::kResolved;
  task.attempts = 2;
  store::Attempt waited = failed(1, 1s);
  waited.error.reset();
  store::Attempt in_line = failed(2, 1s);
  in_line.error->code = kWaitsForOrder;
  const auto history = history_of(task, {waited, in_line, failed(3, 1s)}, {});
  ASSERT_EQ(history.size(), 1U);
  EXPECT_EQ(history[0].attempt, 3);
}

Record record_in(task::State state) {
  Record record;
  record.state = state;
  record.status = status_of(state);
  return record;
}

// MSG-8.
TEST(MessageMoves, FollowFromHowItStands) {
  EXPECT_EQ(*move_to_retry(record_in(task::State::kDead)), task::Move::kReopen);
  EXPECT_EQ(*move_to_retry(record_in(task::State::kPending)), task::Move::kRetryNow);
  EXPECT_EQ(*move_to_retry(record_in(task::State::kPaused)), task::Move::kResume);
  EXPECT_EQ(*move_to_processed(record_in(task::State::kFailed)), task::Move::kResolve);
  EXPECT_EQ(*move_to_ignored(record_in(task::State::kPending)), task::Move::kIgnore);
  const auto refused = move_to_retry(record_in(task::State::kResolved));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("PROCESSED (resolved)"));
  EXPECT_FALSE(move_to_processed(record_in(task::State::kSucceeded)));
  EXPECT_FALSE(move_to_ignored(record_in(task::State::kIgnored)));
}

}  // namespace
}  // namespace recourse::message
