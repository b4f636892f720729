#include "message/waiting_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/ulid.h"

namespace recourse::message {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

task::TaskId task(int number) {
  Ulid id;
  id.bytes[15] = static_cast<std::uint8_t>(number);
  return task::TaskId(id);
}

std::vector<task::TaskId> waiting(const std::vector<WaitingLine::Wait>& waits) {
  std::vector<task::TaskId> tasks;
  for (const WaitingLine::Wait& wait : waits) tasks.push_back(wait.waiting);
  return tasks;
}

TEST(WaitingLine, OnlyThoseWhoDoNotWaitThemselvesAreHeads) {
  WaitingLine line(100);
  line.add({.waiting = task(2), .behind = task(1)});
  line.add({.waiting = task(3), .behind = task(2)});
  line.add({.waiting = task(12), .behind = task(11)});

  EXPECT_THAT(line.heads(10), ElementsAre(task(1), task(11)));
  EXPECT_THAT(waiting(line.behind(task(1))), ElementsAre(task(2)));

  ASSERT_TRUE(line.take(task(2)));
  EXPECT_THAT(line.behind(task(1)), IsEmpty());
  EXPECT_THAT(line.heads(10), ElementsAre(task(2), task(11)));
}

TEST(WaitingLine, HeadsComeInTurn) {
  WaitingLine line(100);
  for (int i = 1; i <= 5; ++i) line.add({.waiting = task(100 + i), .behind = task(i)});

  EXPECT_THAT(line.heads(2), ElementsAre(task(1), task(2)));
  EXPECT_THAT(line.heads(2), ElementsAre(task(3), task(4)));
  EXPECT_THAT(line.heads(2), ElementsAre(task(5), task(1)));
  EXPECT_THAT(WaitingLine(1).heads(2), IsEmpty());
}

TEST(WaitingLine, AMessageWaitsForOneAtATimeAndTooManyAreNotTakenIn) {
  WaitingLine line(2);
  line.add({.waiting = task(3), .behind = task(1)});
  line.add({.waiting = task(3), .behind = task(2)});

  EXPECT_THAT(line.behind(task(1)), IsEmpty());
  EXPECT_THAT(waiting(line.behind(task(2))), ElementsAre(task(3)));

  line.add({.waiting = task(4), .behind = task(3)});
  line.add({.waiting = task(5), .behind = task(4)});
  EXPECT_FALSE(line.take(task(5)));
  EXPECT_TRUE(line.take(task(3)));
  EXPECT_TRUE(line.take(task(4)));
  EXPECT_TRUE(line.empty());
}

}  // namespace
}  // namespace recourse::message
