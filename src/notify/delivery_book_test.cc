// NOTE-5: sent, failed and suppressed are counted, and add up.
#include "notify/delivery_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "base/rng.h"

namespace recourse::notify {
namespace {

using namespace std::chrono_literals;

Delivery delivery(DeliveryResult result, const std::string& kind = "pay", int second = 0) {
  return {.notice = "evt_1",
          .event = Event::kDeadLetter,
          .severity = Severity::kError,
          .kind = task::Kind(kind),
          .task = task::TaskId{},
          .tenant = task::Tenant("acme"),
          .channel = "ops",
          .result = result,
          .tries = 1,
          .error = result == DeliveryResult::kSent ? "" : "why",
          .at = TimePoint(1'700'000'000s + std::chrono::seconds(second))};
}

TEST(DeliveryBook, KeepsWhatWasSentAndWhatFailedOneByOne) {
  DeliveryBook book;
  book.add(delivery(DeliveryResult::kSent, "pay", 1));
  book.add(delivery(DeliveryResult::kFailed, "pay", 2));

  const DeliveryEntry first = book.take().value();
  EXPECT_EQ(first.delivery.result, DeliveryResult::kSent);
  EXPECT_EQ(first.delivery.notice, "evt_1");
  EXPECT_TRUE(first.delivery.task);
  EXPECT_EQ(first.count, 1);
  EXPECT_EQ(book.take()->delivery.error, "why");
  EXPECT_FALSE(book.take());
  EXPECT_TRUE(book.empty());
}

TEST(DeliveryBook, SumsUpWhatWasSuppressedForOneReason) {
  DeliveryBook book;
  for (int i = 0; i < 412; ++i) book.add(delivery(DeliveryResult::kSuppressed, "pay", i));
  book.add(delivery(DeliveryResult::kSuppressed, "mail", 7));

  EXPECT_EQ(book.size(), 2U);
  const DeliveryEntry alone = book.take().value();
  EXPECT_EQ(alone.delivery.kind.value, "mail");
  EXPECT_EQ(alone.delivery.notice, "evt_1") << "one alone is named";
  const DeliveryEntry sum = book.take().value();
  EXPECT_EQ(sum.count, 412);
  EXPECT_EQ(sum.delivery.notice, "");
  EXPECT_FALSE(sum.delivery.task);
  EXPECT_EQ(sum.delivery.at - sum.since, 411s);
  EXPECT_EQ(sum.delivery.error, "why");
}

TEST(DeliveryBook, TheOldestGiveWayToSums) {
  DeliveryBook book({.listed_max = 2, .sums_max = 1});
  for (int i = 0; i < 5; ++i) book.add(delivery(DeliveryResult::kSent, "pay", i));
  book.add(delivery(DeliveryResult::kSuppressed, "mail", 9));

  EXPECT_EQ(book.take()->since, delivery(DeliveryResult::kSent, "pay", 3).at);
  EXPECT_EQ(book.take()->since, delivery(DeliveryResult::kSent, "pay", 4).at);
  const DeliveryEntry sum = book.take().value();
  EXPECT_EQ(sum.count, 3);
  EXPECT_FALSE(sum.mixed);
  const DeliveryEntry rest = book.take().value();
  EXPECT_TRUE(rest.mixed) << "no room for another sort";
  EXPECT_EQ(rest.delivery.tenant.value, "") << "of whoever";
  EXPECT_EQ(rest.count, 1);
}

// What is counted: nothing is lost, and nothing is counted twice.
using Key = std::tuple<std::string, DeliveryResult, bool>;
struct Sums {
  std::map<Key, std::int64_t> counts;
  std::int64_t more = 0;

  friend bool operator==(const Sums&, const Sums&) = default;
};

void count(Sums& sums, const DeliveryEntry& entry) {
  const Delivery& one = entry.delivery;
  sums.counts[{one.channel, one.result, one.summary}] += entry.count;
  sums.more += one.more;
}

Delivery random_delivery(Rng& rng, int second) {
  const auto below = [&rng](int n) {
    return static_cast<int>(rng.between(0us, Duration(n - 1)).count());
  };
  Delivery one = delivery(kAllDeliveryResults[static_cast<std::size_t>(below(3))],
                          "kind" + std::to_string(below(20)), second);
  one.event = kAllEvents[static_cast<std::size_t>(below(3))];
  one.channel = "channel" + std::to_string(below(3));
  one.tenant = task::Tenant("tenant" + std::to_string(below(5)));
  one.error = "error " + std::to_string(below(4));
  one.more = below(10);
  one.summary = one.result != DeliveryResult::kSuppressed && below(10) == 0;
  return one;
}

TEST(DeliveryBook, CountsAddUpAndItsBoundsHoldWhateverComes) {
  constexpr DeliveryBookSettings kSettings{.listed_max = 10, .sums_max = 10};
  constexpr std::size_t kEntriesMax = 10 + 10 + std::size_t{3} * 3 * 2;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Rng rng(seed);
    const auto chance = [&rng](int n) { return rng.between(0us, Duration(n - 1)) == 0us; };
    DeliveryBook incoming(kSettings);
    DeliveryBook pending(kSettings);
    Sums added;
    Sums taken;
    for (int i = 0; i < 2'000; ++i) {
      const Delivery one = random_delivery(rng, i);
      incoming.add(one);
      count(added, {.delivery = one, .since = one.at});
      if (chance(50)) pending.add(std::exchange(incoming, DeliveryBook(kSettings)));
      if (chance(20)) {
        if (auto entry = pending.take()) pending.put_back(*std::move(entry));
      }
      if (chance(20)) {
        if (auto entry = pending.take()) count(taken, *entry);
      }
      ASSERT_LE(incoming.size(), kEntriesMax) << seed;
      ASSERT_LE(pending.size(), kEntriesMax) << seed;
    }
    pending.add(std::move(incoming));
    const std::int64_t left = pending.count();
    std::int64_t last = 0;
    while (auto entry = pending.take()) {
      last += entry->count;
      count(taken, *entry);
    }
    EXPECT_EQ(last, left) << seed;
    EXPECT_EQ(taken, added) << seed;
  }
}

}  // namespace
}  // namespace recourse::notify
