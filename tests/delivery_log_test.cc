// What became of notices, on its way into the store.
#include "notify/delivery_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "base/manual_clock.h"
#include "notify/delivery_page.h"
#include "store/memory/memory_store.h"

namespace recourse::notify {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

// A store that can be down, or take what it is given without saying so.
class Troubled final : public store::Records {
 public:
  enum class Mood : std::uint8_t { kWell, kDown, kMute, kStrict };

  explicit Troubled(store::Records& real) : real_(real) {}

  Result<store::AddedRecord> add(const store::Record& record, std::optional<Duration> lives_for,
                                 Duration within, const std::optional<store::Deed>& deed) override {
    const Mood now = mood;
    ++calls;
    if (now == Mood::kDown) return fail(ErrorCode::kUnavailable, "the store is down");
    if (now == Mood::kStrict) return fail(ErrorCode::kInvalid, "never");
    auto added = real_.add(record, lives_for, within, deed);
    if (now == Mood::kMute) return fail(ErrorCode::kInDoubt, "no answer");
    return added;
  }
  Result<store::Record> replace(const store::Record& record, std::optional<Duration> lives_for,
                                Duration within) override {
    return real_.replace(record, lives_for, within);
  }
  Result<bool> remove(std::string_view space, std::string_view name, Duration within,
                      const std::optional<store::Deed>& deed) override {
    return real_.remove(space, name, within, deed);
  }
  Result<std::optional<store::Record>> find(std::string_view space, std::string_view name,
                                            Duration within) override {
    return real_.find(space, name, within);
  }
  Result<store::RecordPage> list(std::string_view space, std::optional<std::string> after,
                                 std::size_t limit, Duration within) override {
    return real_.list(space, std::move(after), limit, within);
  }
  Result<std::size_t> sweep(std::size_t limit, Duration within) override {
    return real_.sweep(limit, within);
  }

  std::atomic<Mood> mood = Mood::kWell;
  std::atomic<int> calls = 0;

 private:
  store::Records& real_;
};

class DeliveryLogTest : public testing::Test {
 protected:
  using Mood = Troubled::Mood;

  void start(Duration write_every = 1ms) {
    made_.emplace(records_, ids_, clock_, log_, DeliveryLogSettings{.write_every = write_every},
                  "node");
  }
  void add(const std::string& notice, DeliveryResult result = DeliveryResult::kSent) {
    made_->add({.notice = notice,
                .event = Event::kDeadLetter,
                .severity = Severity::kError,
                .kind = task::Kind("pay"),
                .task = std::nullopt,
                .tenant = {},
                .channel = "ops",
                .result = result,
                .tries = 1,
                .error = "",
                .at = clock_.now()});
  }
  std::vector<store::Record> pages() {
    return opened_->records().list(kDeliverySpace, std::nullopt, 100, 1s)->records;
  }
  std::int64_t written() {
    std::int64_t sum = 0;
    for (const store::Record& page : pages()) {
      for (const auto& item : read_delivery_page(page.value)) {
        sum += item.at("count").to_number<std::int64_t>();
      }
    }
    return sum;
  }
  // Its thread cannot be told.
  static bool eventually(const std::function<bool()>& is_so) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (!is_so()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }

  ManualClock clock_{TimePoint(1'700'000'000s)};
  UlidSource ids_{clock_, 1};
  MemoryLog log_;
  std::unique_ptr<store::OpenedStore> opened_ =
      store::memory::open(store::memory::make_data(), clock_);
  Troubled records_{opened_->records()};
  std::optional<DeliveryLog> made_;
};

TEST_F(DeliveryLogTest, WritesWhatComesAndNothingWhereNothingComes) {
  start();
  add("one");
  EXPECT_TRUE(eventually([&] { return written() == 1; }));
  made_.reset();
  EXPECT_EQ(records_.calls, 1) << "no page without a delivery";
}

TEST_F(DeliveryLogTest, APageIsGoneAfterItsTime) {
  start();
  add("one");
  made_.reset();
  clock_.advance(71h);
  EXPECT_THAT(pages(), SizeIs(1));
  clock_.advance(2h);
  EXPECT_THAT(pages(), SizeIs(0));
}

TEST_F(DeliveryLogTest, TheLastPageIsWrittenAtTheEndWithoutWaiting) {
  start(24h);
  for (int i = 0; i < 30; ++i) add(std::to_string(i));
  made_->stop(5s);
  EXPECT_EQ(written(), 30);
  EXPECT_THAT(pages(), SizeIs(1));
  add("late");
  made_->stop(5s);
  EXPECT_EQ(written(), 31) << "a letter that ended after the stop";
  add("last");
  made_.reset();
  EXPECT_EQ(written(), 32);
  EXPECT_THAT(log_.lines(), Not(Contains(HasSubstr("deliveries_lost"))));
}

TEST_F(DeliveryLogTest, WhatAStoreThatIsDownDoesNotTakeIsWrittenLater) {
  records_.mood = Mood::kDown;
  start();
  for (int i = 0; i < 1'000; ++i) add(std::to_string(i));
  EXPECT_TRUE(eventually([&] { return records_.calls >= 3; }));
  for (int i = 0; i < 1'000; ++i) add(std::to_string(i), DeliveryResult::kSuppressed);
  records_.mood = Mood::kWell;
  EXPECT_TRUE(eventually([&] { return written() > 0; }));
  made_->stop(5s);
  EXPECT_EQ(written(), 2'000) << "what did not fit is summed up";
  const auto lines = log_.lines();
  EXPECT_EQ(std::ranges::count_if(lines,
                                  [](const std::string& line) {
                                    return line.find("deliveries_not_written") != line.npos;
                                  }),
            1)
      << "one line for an outage";
}

TEST_F(DeliveryLogTest, APageInDoubtIsThereOnce) {
  records_.mood = Mood::kMute;
  start();
  add("one");
  EXPECT_TRUE(eventually([&] { return records_.calls >= 2; }));
  records_.mood = Mood::kWell;
  made_->stop(5s);
  EXPECT_EQ(written(), 1);
}

TEST_F(DeliveryLogTest, EndsInTimeWhereTheStoreStaysDown) {
  records_.mood = Mood::kDown;
  start(24h);
  add("one");
  made_->stop(1s);
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("deliveries_lost")));
  made_.reset();
  EXPECT_EQ(written(), 0);
}

TEST_F(DeliveryLogTest, WhatIsRefusedForGoodIsNotOfferedAgain) {
  records_.mood = Mood::kStrict;
  start();
  add("one");
  EXPECT_TRUE(eventually([&] { return records_.calls == 1; }));
  records_.mood = Mood::kWell;
  add("two");
  EXPECT_TRUE(eventually([&] { return written() == 1; }));
}

TEST_F(DeliveryLogTest, ManyThreadsAddAndAllOfItIsCounted) {
  start();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1'000; ++i) {
        add(std::to_string(i), kAllDeliveryResults[static_cast<std::size_t>(i) % 3]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  made_->stop(5s);
  EXPECT_EQ(written(), 4'000);
}

TEST(DeliveryLogPace, ALongPageIsFollowedByALongRest) {
  const DeliveryLogSettings settings;
  EXPECT_EQ(rest_after(100, settings), 1s);
  EXPECT_EQ(rest_after(40'960, settings), 10s);
  EXPECT_EQ(rest_after_failures(1, settings), 1s);
  EXPECT_EQ(rest_after_failures(3, settings), 4s);
  EXPECT_EQ(rest_after_failures(1'000, settings), 30s);
}

}  // namespace
}  // namespace recourse::notify
