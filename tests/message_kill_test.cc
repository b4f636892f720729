// No message is lost, none is acknowledged without a record, none is done twice but in the one
// window there is: as the server consumes, every message a task. I12, MSG-5, MSG-8, MSG-12
#include "tests/message_kill_fixture.h"

namespace recourse::tests {
namespace {

INSTANTIATE_TEST_SUITE_P(Brokers, MessageKilled,
                         ::testing::Values("RabbitmqClassic", "Redis", "KafkaMock"),
                         [](const auto& one) { return one.param; });

TEST_P(MessageKilled, EveryMessageIsDoneOnceOrWithAPerson) {
  consume_all({MESSAGE_NODE});

  check_records(Recorded::kAll);
  report(check_effects());
}

}  // namespace
}  // namespace recourse::tests
