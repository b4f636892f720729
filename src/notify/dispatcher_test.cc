#include "notify/dispatcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/manual_clock.h"
#include "notify/fake_channel.h"

namespace recourse::notify {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::SizeIs;

class DispatcherTest : public testing::Test {
 protected:
  std::shared_ptr<FakeChannel> add(std::string name, FakeChannel::Script script = nullptr) {
    auto channel = std::make_shared<FakeChannel>(std::move(name), std::move(script));
    channels_.push_back(channel);
    return channel;
  }
  void start(const DispatchSettings& settings = {}) {
    dispatcher_ = std::make_unique<Dispatcher>(settings, channels_, clock_);
  }
  bool offer(std::size_t channel, std::string id = "n") {
    return dispatcher_->offer(
        {.message = std::make_shared<const Outgoing>(Notice{.id = std::move(id)}, masker_),
         .channel = channel,
         .ended = [this](const LetterEnd& end) { ended_.add(end); }});
  }
  // Lets time pass until so many letters have ended.
  std::vector<LetterEnd> ended_as_time_passes(std::size_t count) {
    while (ended_.all().size() < count) {
      clock_.advance(10ms);
      dispatcher_->look_again();
      std::this_thread::yield();
    }
    return ended_.all();
  }

  ManualClock clock_{TimePoint(1'700'000'000s)};
  std::shared_ptr<const Masker> masker_ = std::make_shared<const Masker>(Masker::make({}).value());
  Happened<LetterEnd> ended_;
  std::vector<std::shared_ptr<Channel>> channels_;
  std::unique_ptr<Dispatcher> dispatcher_;
};

TEST_F(DispatcherTest, SendsWhatItIsOffered) {
  const auto channel = add("a");
  start();

  ASSERT_TRUE(offer(0, "the first"));

  EXPECT_TRUE(ended_.wait_for(1).at(0).sent);
  EXPECT_EQ(channel->seen.all().at(0).id, "the first");
}

TEST_F(DispatcherTest, TriesAgainAfterAPause) {
  std::atomic<int> tries = 0;
  add("a", [&](const Notice& notice, const std::stop_token& stop) {
    return ++tries < 3 ? refuses(notice, stop) : Result<>();
  });
  start();

  ASSERT_TRUE(offer(0));

  const LetterEnd end = ended_as_time_passes(1).at(0);
  EXPECT_TRUE(end.sent);
  EXPECT_EQ(end.tries, 3);
}

TEST_F(DispatcherTest, SurvivesAChannelThatThrows) {
  add("a",
      [](const Notice&, const std::stop_token&) -> Result<> { throw std::runtime_error("oh"); });
  add("b", [](const Notice&, const std::stop_token&) -> Result<> { throw 7; });
  start({.tries_max = 1});

  ASSERT_TRUE(offer(0) && offer(1));

  std::string errors;
  for (const LetterEnd& end : ended_.wait_for(2)) errors += end.error + "\n";
  EXPECT_THAT(errors, HasSubstr("the channel threw: oh"));
  EXPECT_THAT(errors, HasSubstr("no exception"));
}

TEST_F(DispatcherTest, AHangingChannelHoldsUpNoOther) {
  Gate gate;
  add("hangs", [&](const Notice&, const std::stop_token& stop) { return gate.pass(stop); });
  const auto fine = add("fine");
  start();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(offer(0));

  for (int i = 0; i < 100; ++i) ASSERT_TRUE(offer(1));

  EXPECT_THAT(fine->seen.wait_for(100), SizeIs(100));
  EXPECT_LE(dispatcher_->use().threads, 4U);
  gate.open();
  EXPECT_THAT(ended_.wait_for(200), SizeIs(200));
}

TEST_F(DispatcherTest, RefusesAndCountsWhatItHasNoRoomFor) {
  Gate gate;
  add("hangs", [&](const Notice&, const std::stop_token& stop) { return gate.pass(stop); });
  start({.threads_core = 1, .threads_max = 1, .queue_max = 5});
  int taken = 0;
  for (int i = 0; i < 100; ++i) taken += offer(0) ? 1 : 0;

  EXPECT_LE(taken, 6);
  EXPECT_EQ(dispatcher_->use().refused, static_cast<std::uint64_t>(100 - taken));
  gate.open();
  EXPECT_THAT(ended_.wait_for(static_cast<std::size_t>(taken)), SizeIs(taken));
}

TEST_F(DispatcherTest, StopSendsWhatWaitsFirst) {
  add("a");
  start();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(offer(0));

  dispatcher_->stop(kPatience);

  EXPECT_THAT(ended_.all(), SizeIs(50));
  for (const LetterEnd& end : ended_.all()) EXPECT_TRUE(end.sent);
  EXPECT_FALSE(offer(0));
}

TEST_F(DispatcherTest, StopCutsOffWhatHangs) {
  Gate gate;
  const auto channel =
      add("hangs", [&](const Notice&, const std::stop_token& stop) { return gate.pass(stop); });
  start();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(offer(0));
  channel->seen.wait_for(1);

  dispatcher_->stop(0s);

  ASSERT_THAT(ended_.all(), SizeIs(10));
  for (const LetterEnd& end : ended_.all()) EXPECT_FALSE(end.sent);
}

TEST_F(DispatcherTest, StopDoesNotWaitForAChannelThatDoesNotListen) {
  Gate gate;
  const auto deaf =
      add("deaf", [&](const Notice&, const std::stop_token&) { return gate.pass({}); });
  start();
  ASSERT_TRUE(offer(0));
  deaf->seen.wait_for(1);

  dispatcher_->stop(0s);

  EXPECT_THAT(ended_.all(), SizeIs(0));
  gate.open();
  EXPECT_THAT(ended_.wait_for(1), SizeIs(1));
}

TEST_F(DispatcherTest, ThreadsBeyondTheFirstEndWhenThereIsNothingToDo) {
  Gate gate;
  for (const char* name : {"a", "b", "c", "d"}) {
    add(name, [&](const Notice&, const std::stop_token& stop) { return gate.pass(stop); });
  }
  start({.threads_core = 1, .keep_alive = 1ms});
  for (std::size_t i = 0; i < 4; ++i) ASSERT_TRUE(offer(i));
  for (const auto& channel : channels_) static_cast<FakeChannel&>(*channel).seen.wait_for(1);
  EXPECT_EQ(dispatcher_->use().threads, 4U);

  gate.open();
  ended_.wait_for(4);

  while (dispatcher_->use().threads > 1) std::this_thread::yield();
  ASSERT_TRUE(offer(0));
  EXPECT_THAT(ended_.wait_for(5), SizeIs(5));
}

}  // namespace
}  // namespace recourse::notify
