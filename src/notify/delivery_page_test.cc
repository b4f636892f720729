#include "notify/delivery_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "store/records.h"

namespace recourse::notify {
namespace {

using namespace std::chrono_literals;

Delivery sent(int number, std::string error = "") {
  return {.notice = "evt_" + std::to_string(number),
          .event = Event::kDeadLetter,
          .severity = Severity::kError,
          .kind = task::Kind("pay"),
          .task = task::TaskId{},
          .tenant = task::Tenant("acme"),
          .channel = "ops",
          .result = DeliveryResult::kFailed,
          .tries = 3,
          .error = std::move(error),
          .at = TimePoint(1'700'000'000s + std::chrono::seconds(number)),
          .more = 2};
}

TEST(DeliveryPage, NamesSortTheNewestFirst) {
  const Ulid low{};
  const TimePoint now(1'700'000'000s);
  EXPECT_LT(delivery_page_name(now + 1us, low), delivery_page_name(now, low));
  EXPECT_LT(delivery_page_name(now + 24h, low), delivery_page_name(now + 1s, low));
  EXPECT_EQ(delivery_page_name(now, low).size(), 16U + 1 + 26);
}

TEST(DeliveryPage, HasTheNewestFirstEachWithItsNode) {
  DeliveryBook book;
  book.add(sent(1, "it \"answered\" 500"));
  book.add(sent(2));

  const boost::json::array items = read_delivery_page(take_delivery_page(book, "node \"a\""));

  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].at("notice"), "evt_2");
  const boost::json::value& first = items[1];
  EXPECT_EQ(first.at("node"), "node \"a\"");
  EXPECT_EQ(first.at("result"), "failed");
  EXPECT_EQ(first.at("error"), "it \"answered\" 500");
  EXPECT_EQ(first.at("event"), "dead_letter");
  EXPECT_EQ(first.at("tenant"), "acme");
  EXPECT_EQ(first.at("tries"), 3);
  EXPECT_EQ(first.at("more"), 2);
  EXPECT_EQ(first.at("count"), 1);
  EXPECT_TRUE(first.at("task").is_string());
  EXPECT_TRUE(take_delivery_page(book, "a").empty()) << "nothing is left";
}

TEST(DeliveryPage, WhatIsMixedSaysNothingOfItsParts) {
  DeliveryBook book({.listed_max = 0, .sums_max = 0});
  book.add(sent(1));
  const boost::json::value one = read_delivery_page(take_delivery_page(book, "a")).at(0);
  for (const char* name : {"event", "kind", "tenant", "task", "notice"}) {
    EXPECT_TRUE(one.at(name).is_null()) << name;
  }
  EXPECT_EQ(one.at("channel"), "ops");
}

// NOTE-5, bounds: however long the texts are, a page is a record's value, and the rest waits.
TEST(DeliveryPage, FitsIntoARecordAndLosesNothing) {
  DeliveryBook book;
  std::string quotes(5'000, '"');
  for (int i = 0; i < 100; ++i) {
    Delivery one = sent(i, quotes);
    one.channel = std::string(1'000, '\\') + std::to_string(i);
    book.add(one);
  }
  std::int64_t count = 0;
  int pages = 0;
  for (std::string page; !(page = take_delivery_page(book, "a")).empty(); ++pages) {
    EXPECT_LE(page.size(), kDeliveryPageBytesMax);
    for (const auto& item : read_delivery_page(page)) count += item.at("count").to_number<int>();
  }
  EXPECT_LT(kDeliveryPageBytesMax, store::kRecordValueBytesMax);
  EXPECT_GT(pages, 1);
  EXPECT_EQ(count, 100);
}

TEST(DeliveryPage, WhatIsNoPageHasNoEntries) {
  for (const char* text : {"", "{", "[]", R"({"items":7,"node":""})", R"({"node":"a"})",
                           R"({"items":[7],"node":"a"})"}) {
    EXPECT_TRUE(read_delivery_page(text).empty()) << text;
  }
}

}  // namespace
}  // namespace recourse::notify
