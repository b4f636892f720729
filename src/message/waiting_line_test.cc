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

task::TaskId numbered(int number) {
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
  line.add({.waiting = numbered(2), .behind = numbered(1)});
  line.add({.waiting = numbered(3), .behind = numbered(2)});
  line.add({.waiting = numbered(12), .behind = numbered(11)});

  EXPECT_THAT(line.heads(10), ElementsAre(numbered(1), numbered(11)));
  EXPECT_THAT(waiting(line.behind(numbered(1))), ElementsAre(numbered(2)));

  ASSERT_TRUE(line.take(numbered(2)));
  EXPECT_THAT(line.behind(numbered(1)), IsEmpty());
  EXPECT_THAT(line.heads(10), ElementsAre(numbered(2), numbered(11)));
}

TEST(WaitingLine, HeadsComeInTurn) {
  WaitingLine line(100);
  for (int i = 1; i <= 5; ++i) line.add({.waiting = numbered(100 + i), .behind = numbered(i)});

  EXPECT_THAT(line.heads(2), ElementsAre(numbered(1), numbered(2)));
  EXPECT_THAT(line.heads(2), ElementsAre(numbered(3), numbered(4)));
  EXPECT_THAT(line.heads(2), ElementsAre(numbered(5), numbered(1)));
  EXPECT_THAT(WaitingLine(1).heads(2), IsEmpty());
}

TEST(WaitingLine, AMessageWaitsForOneAtATimeAndTooManyAreNotTakenIn) {
  WaitingLine line(2);
  line.add({.waiting = numbered(3), .behind = numbered(1)});
  line.add({.waiting = numbered(3), .behind = numbered(2)});

  EXPECT_THAT(line.behind(numbered(1)), IsEmpty());
  EXPECT_THAT(waiting(line.behind(numbered(2))), ElementsAre(numbered(3)));

  line.add({.waiting = numbered(4), .behind = numbered(3)});
  line.add({.waiting = numbered(5), .behind = numbered(4)});
  EXPECT_FALSE(line.take(numbered(5)));
  EXPECT_TRUE(line.take(numbered(3)));
  EXPECT_TRUE(line.take(numbered(4)));
  EXPECT_TRUE(line.empty());
}

}  // namespace
}  // namespace recourse::message
