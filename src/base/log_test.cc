#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recourse {
namespace {

using testing::ElementsAre;

TEST(MemoryLog, KeepsEventAndFields) {
  MemoryLog log;

  log.info("task_moved", {{"task", "tsk_1"}, {"to", "dead"}});
  log.error("store_lost");

  EXPECT_THAT(log.lines(), ElementsAre("info task_moved task=tsk_1 to=dead", "error store_lost"));
}

TEST(MemoryLog, IsBoundedAndKeepsTheNewest) {
  MemoryLog log(2);

  log.debug("one");
  log.info("two");
  log.warning("three");

  EXPECT_THAT(log.lines(), ElementsAre("info two", "warning three"));
}

TEST(MemoryLog, OfNoCapacityKeepsNothing) {
  MemoryLog log(0);

  log.info("one");

  EXPECT_THAT(log.lines(), ElementsAre());
}

}  // namespace
}  // namespace recourse
