#include "message/log_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "message/envelope.h"

namespace recourse::message {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// A message's task that failed, or did not, after so many runs.
engine::Moved moved(task::State to, int attempts_before) {
  const Envelope envelope{.source = "shop", .group = "billing", .topic = "orders", .id = "m-1"};
  auto was = std::make_shared<task::Task>();
  was->spec = spec_of(envelope, "{}", {.kind = task::Kind("orders")}).value();
  was->attempts = attempts_before;
  was->retries = attempts_before;
  engine::Moved moved{.task = was->id,
                      .kind = was->spec.kind,
                      .tenant = was->spec.tenant,
                      .move = task::Move::kRetry,
                      .to = to,
                      .retries = attempts_before,
                      .max_retries = 5,
                      .fence = {},
                      .category = std::nullopt,
                      .escalation = std::nullopt,
                      .error = std::nullopt,
                      .took = 1ms,
                      .was = was};
  if (to != task::State::kSucceeded) moved.error = task::Reason{"HTTP_503", "it is away"};
  return moved;
}

TEST(MessageLog, EveryLineNamesTheMessage) {
  MemoryLog log;

  log_moved(log, moved(task::State::kPending, 0));
  log_moved(log, moved(task::State::kPending, 1));
  log_moved(log, moved(task::State::kSucceeded, 1));
  log_moved(log, moved(task::State::kDead, 5));

  EXPECT_THAT(log.lines(), Each(HasSubstr(" message=m-1 source=shop group=billing topic=orders ")));
  EXPECT_THAT(
      log.lines(),
      ElementsAre(AllOf(StartsWith("warning message_consume_failed"), HasSubstr("HTTP_503")),
                  AllOf(StartsWith("warning message_retry_finished"), HasSubstr("result=failed")),
                  AllOf(StartsWith("info message_retry_finished"), HasSubstr("result=succeeded")),
                  StartsWith("warning message_retry_finished"),
                  StartsWith("error message_gave_up")));
}

TEST(MessageLog, WhereNothingWasRunThereIsNothingToTell) {
  MemoryLog log;
  engine::Moved put_off = moved(task::State::kPending, 1);
  put_off.took.reset();

  log_moved(log, put_off);
  log_moved(log, moved(task::State::kSucceeded, 0));

  EXPECT_THAT(log.lines(), IsEmpty());
}

// What a consumer of this process and an engine elsewhere say of the same message.
TEST(MessageLog, AMessageAndItsTaskAreNamedAlike) {
  MemoryLog log;
  const Message message{.source = "shop", .topic = "orders", .id = "m-1"};

  log_handled_twice(log, message, "billing");
  log_consume_failed(log, moved(task::State::kDead, 0));

  EXPECT_THAT(log.lines(), Each(HasSubstr(" message=m-1 source=shop group=billing topic=orders")));
}

}  // namespace
}  // namespace recourse::message
