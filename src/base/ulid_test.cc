#include "base/ulid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <thread>
#include <unordered_set>
#include <vector>

#include "base/manual_clock.h"
#include "base/ulid_source.h"

namespace recourse {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

Ulid with_bytes(std::uint8_t head, std::uint8_t tail) {
  Ulid id;
  std::fill_n(id.bytes.begin(), 6, head);
  std::fill(id.bytes.begin() + 6, id.bytes.end(), tail);
  return id;
}

rc::Gen<Ulid> any_ulid() {
  return rc::gen::map(
      rc::gen::container<std::array<std::uint8_t, 16>>(rc::gen::arbitrary<std::uint8_t>()),
      [](const auto& bytes) { return Ulid{bytes}; });
}

TEST(Ulid, IsWrittenAsTheSpecificationSays) {
  EXPECT_EQ(to_string(Ulid{}), "00000000000000000000000000");
  EXPECT_EQ(to_string(with_bytes(0xFF, 0xFF)), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
  // The example of the specification, from its milliseconds.
  EXPECT_EQ(created_at(parse_ulid("01ARZ3NDEKTSV4RRFFQ69G5FAV").value()),
            TimePoint(1469922850259ms));
}

TEST(Ulid, ParsingSaysWhatIsWrongAndWhere) {
  const auto complaint = [](std::string_view text) { return parse_ulid(text).error().message; };

  EXPECT_THAT(complaint("01ARZ"), HasSubstr("26 characters, not 5"));
  EXPECT_THAT(complaint("81ARZ3NDEKTSV4RRFFQ69G5FAV"), HasSubstr("starts with 0 to 7, not '8'"));
  EXPECT_THAT(complaint("01ARZ3NDEKTSV4RRFFQ69G5FAU"), HasSubstr("character 26 ('U')"));
  EXPECT_THAT(complaint("01arz3NDEKTSV4RRFFQ69G5FAV"),
              HasSubstr("character 3 ('a') is lower case"));
  EXPECT_THAT(complaint(std::string("01ARZ3NDEK\0SV4RRFFQ69G5FAV", 26)), HasSubstr("byte 0x00"));
}

RC_GTEST_PROP(Ulid, TextReadsBackAndSortsLikeTheId, ()) {
  const Ulid a = *any_ulid();
  const Ulid b = *any_ulid();

  RC_ASSERT(parse_ulid(to_string(a)).value() == a);
  RC_ASSERT((to_string(a) < to_string(b)) == (a < b));
}

RC_GTEST_PROP(Ulid, WhatParsesIsSpelledInOneWayOnly, ()) {
  std::string text = to_string(*any_ulid());
  const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
  text[at] = *rc::gen::arbitrary<char>();

  const Result<Ulid> parsed = parse_ulid(text);

  if (parsed) RC_ASSERT(to_string(*parsed) == text);
}

RC_GTEST_PROP(UlidSequence, EachIdIsGreaterWhateverTheClockDoes, (std::uint64_t seed)) {
  UlidSequence sequence(seed);
  Ulid last;

  for (const int milliseconds : *rc::gen::container<std::vector<int>>(rc::gen::inRange(-5, 5))) {
    const Ulid next = sequence.next(TimePoint(std::chrono::milliseconds(milliseconds)));
    RC_ASSERT(next > last);
    last = next;
  }
}

TEST(UlidSequence, CarriesTheTimeItWasMade) {
  UlidSequence sequence(1);

  EXPECT_EQ(created_at(sequence.next(TimePoint(1700000000123ms))), TimePoint(1700000000123ms));
}

TEST(UlidSequence, BorrowsAMillisecondWhenTheRandomBitsAreUsedUp) {
  Ulid last;
  std::fill(last.bytes.begin() + 6, last.bytes.end(), 0xFF);
  UlidSequence sequence(1, last);

  const Ulid next = sequence.next(TimePoint(0ms));

  EXPECT_EQ(created_at(next), TimePoint(1ms));
  EXPECT_EQ(to_string(next), "00000000010000000000000000");
}

TEST(UlidSequence, ATimeBeyondFortyEightBitsIsCutNotWrapped) {
  UlidSequence sequence(1);

  const Ulid next = sequence.next(TimePoint::max());

  EXPECT_EQ(created_at(next), TimePoint(std::chrono::milliseconds((1LL << 48) - 1)));
}

TEST(UlidSource, ThreadsNeverGetTheSameId) {
  const ManualClock clock(TimePoint(1s));
  UlidSource source(clock, 1);
  std::vector<std::vector<Ulid>> made(4);

  std::vector<std::thread> threads;
  for (std::vector<Ulid>& mine : made) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2'000; ++i) mine.push_back(source.next());
    });
  }
  for (std::thread& thread : threads) thread.join();

  std::unordered_set<Ulid> distinct;
  for (const std::vector<Ulid>& mine : made) {
    EXPECT_TRUE(std::ranges::is_sorted(mine));
    distinct.insert(mine.begin(), mine.end());
  }
  EXPECT_EQ(distinct.size(), 8'000U);
}

TEST(UlidSequence, ATimeBefore1970CountsAs1970) {
  UlidSequence sequence(1);

  EXPECT_EQ(created_at(sequence.next(TimePoint(-1ms))), TimePoint(0ms));
}

TEST(UlidSequence, AllEightyBitsAreRandom) {
  UlidSequence sequence(1);
  std::array<std::uint8_t, 16> ever{};

  for (int i = 1; i <= 100; ++i) {
    const Ulid id = sequence.next(TimePoint(i * 1ms));
    for (std::size_t at = 0; at < ever.size(); ++at) ever[at] |= id.bytes[at];
  }

  for (std::size_t at = 6; at < ever.size(); ++at) EXPECT_EQ(ever[at], 0xFF) << "byte " << at;
}

}  // namespace
}  // namespace recourse
