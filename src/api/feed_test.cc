#include "api/feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recourse::api {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

struct FakeStream final : http::Stream {
  bool write(std::string piece) override {
    if (is_gone) return false;
    seen += piece;
    return true;
  }
  void close() override {}

  bool is_gone = false;
  std::string seen;
};

engine::Happening moved_of(const char* tenant) {
  return engine::Moved{.task = {},
                       .kind = task::Kind("k"),
                       .tenant = task::Tenant(tenant),
                       .move = task::Move::kGiveUp,
                       .to = task::State::kDead,
                       .retries = 1,
                       .max_retries = 2,
                       .fence = {},
                       .category = std::nullopt,
                       .escalation = std::nullopt,
                       .error = task::Reason{"CODE", "two\nlines"},
                       .took = 5us};
}

TEST(Feed, TellsEachWhatConcernsThem) {
  Feed feed;
  const auto all = std::make_shared<FakeStream>();
  const auto mine = std::make_shared<FakeStream>();
  ASSERT_TRUE(feed.add(all, std::nullopt));
  ASSERT_TRUE(feed.add(mine, task::Tenant("mine")));
  feed.tell(moved_of("other"), TimePoint(0s));
  EXPECT_EQ(mine->seen, "");
  EXPECT_THAT(all->seen, HasSubstr("event: task\ndata: {"));
  EXPECT_THAT(all->seen, HasSubstr(R"("state":"dead")"));
  EXPECT_THAT(all->seen, HasSubstr(R"("took_us":5)"));
  // A line break inside the data would end it.
  EXPECT_THAT(all->seen, HasSubstr(R"(two\nlines)"));
  EXPECT_EQ(std::ranges::count(all->seen, '\n'), 3);
  feed.tell(moved_of("mine"), TimePoint(0s));
  EXPECT_THAT(mine->seen, HasSubstr("event: task"));
  feed.tell(engine::NodeHappened{engine::NodeEvent::kJoined, "", 1}, TimePoint(0s));
  EXPECT_THAT(mine->seen, HasSubstr("event: node"));
  feed.tell(engine::BreakerChanged{task::Kind("k"), {}}, TimePoint(0s));
  feed.tell(engine::BatchChanged{}, TimePoint(0s));
  EXPECT_THAT(mine->seen, HasSubstr("event: breaker"));
  EXPECT_THAT(mine->seen, HasSubstr("event: batch"));
}

TEST(Feed, ForgetsWhoHasLeftAndTakesNoMoreThanItCan) {
  Feed feed;
  const auto gone = std::make_shared<FakeStream>();
  ASSERT_TRUE(feed.add(gone, task::Tenant("t")));
  gone->is_gone = true;
  feed.keep_alive();
  EXPECT_EQ(feed.watchers(), 0U);
  for (std::size_t i = 0; i < kWatchersMax; ++i) {
    ASSERT_TRUE(feed.add(std::make_shared<FakeStream>(), std::nullopt));
  }
  EXPECT_FALSE(feed.add(std::make_shared<FakeStream>(), std::nullopt));
}

}  // namespace
}  // namespace recourse::api
