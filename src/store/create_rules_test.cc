#include "store/create_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace recourse::store {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr TimePoint kNow{std::chrono::sys_days{std::chrono::year{2026} / 11 / 16}};

CreateAsk ask_of() {
  return {.key = {.tenant = "7", .business = "ORDER_CREATE", .key = "k-1"},
          .resource = "ord",
          .hash = std::string(64, 'a'),
          .id = {.bytes = {1, 2, 3}},
          .ttl = 24h,
          .lock_ttl = 30s};
}

// IDEM-1
TEST(CreateRules, BadInputIsRefusedByFieldName) {
  const auto complaint = [](auto change) {
    CreateAsk ask = ask_of();
    change(ask);
    const Result<> valid = check(ask);
    return valid ? "none" : valid.error().message;
  };
  EXPECT_EQ(complaint([](CreateAsk&) {}), "none");
  EXPECT_THAT(complaint([](CreateAsk& ask) { ask.key.tenant = ""; }), HasSubstr("create.tenant"));
  EXPECT_THAT(complaint([](CreateAsk& ask) { ask.key.business = ""; }),
              HasSubstr("create.business_type"));
  EXPECT_THAT(complaint([](CreateAsk& ask) { ask.resource = "Ord!"; }),
              HasSubstr("create.resource_type"));
  EXPECT_THAT(complaint([](CreateAsk& ask) { ask.hash.pop_back(); }),
              HasSubstr("create.request_hash"));
  EXPECT_THAT(complaint([](CreateAsk& ask) { ask.hash.back() = 'g'; }),
              HasSubstr("create.request_hash"));
  EXPECT_THAT(complaint([](CreateAsk& ask) { ask.key.key = ""; }), HasSubstr("create.key"));
  EXPECT_THAT(complaint([](CreateAsk& ask) { ask.key.key = std::string(256, 'k'); }),
              HasSubstr("create.key"));
  EXPECT_THAT(complaint([](CreateAsk& ask) { ask.ttl = -1s; }), HasSubstr("create.ttl"));
  EXPECT_THAT(complaint([](CreateAsk& ask) { ask.lock_ttl = 0s; }), HasSubstr("create.lock_ttl"));
  // Every bad field at once.
  EXPECT_THAT(complaint([](CreateAsk& ask) {
                ask.key.tenant = "";
                ask.ttl = 0s;
              }),
              AllOf(HasSubstr("create.tenant"), HasSubstr("create.ttl")));
}

// IDEM-4, IDEM-5, IDEM-7, IDEM-8
RC_GTEST_PROP(CreateRules, AKeyIsTakenOnlyWhereNobodyHasItAndNothingWasCreated, ()) {
  const CreateAsk ask = ask_of();
  Creation there = first_creation(ask, kNow);
  there.state =
      *rc::gen::element(CreateState::kProcessing, CreateState::kSucceeded, CreateState::kFailed);
  const auto later = Duration(*rc::gen::inRange<std::int64_t>(0, Duration(25h).count()));
  const TimePoint now = kNow + later;
  CreateAsk again = ask;
  again.id = {.bytes = {9}};
  const bool other = *rc::gen::arbitrary<bool>();
  if (other) again.hash = std::string(64, 'b');

  const KeyVerdict verdict = judge(there, again, now);

  const bool expired = later >= 24h;
  if (verdict == KeyVerdict::kTake) {
    RC_ASSERT(expired || (!other && there.state != CreateState::kSucceeded));
    RC_ASSERT(expired || there.state == CreateState::kFailed || later >= 30s);
    const Creation next = next_creation(there, again, now);
    // A key begun anew takes its fence from the clock: it may skip, but never repeats.
    if (expired) {
      RC_ASSERT(next.fence > there.fence);
    } else {
      RC_ASSERT(next.fence == there.fence + 1);
    }
    // A successor creates under the same id.
    RC_ASSERT((next.id == there.id) == !expired);
    RC_ASSERT(judge(next, again, now) == KeyVerdict::kInProgress);
  } else {
    RC_ASSERT(!expired);
    RC_ASSERT((verdict == KeyVerdict::kOther) == other);
    if (verdict == KeyVerdict::kReplay) RC_ASSERT(there.state == CreateState::kSucceeded);
    if (verdict == KeyVerdict::kInProgress) RC_ASSERT(later < 30s);
  }
}

TEST(CreateRules, AnotherResourceUnderTheKeyIsAnotherRequest) {
  const Creation there = first_creation(ask_of(), kNow);
  CreateAsk other = ask_of();
  other.resource = "sto";
  EXPECT_EQ(judge(there, other, kNow), KeyVerdict::kOther);
  EXPECT_THAT(other_request(there, other).message, HasSubstr("`ord`, not a `sto`"));
}

// IDEM-6
TEST(CreateRules, AValueOfMoreThan4096BytesIsCutOnACharacter) {
  EXPECT_FALSE(kept_value(std::string(4'096, 'v')).is_cut);
  const std::string text = std::string(4'095, 'v') + "\xC3\xA9";
  const KeptValue kept = kept_value(text);
  EXPECT_TRUE(kept.is_cut);
  EXPECT_EQ(kept.text, std::string(4'095, 'v'));
}

// IDEM-2
TEST(CreateRules, ThePublicIdIsTheTypeAndTheInternalId) {
  const Creation there = first_creation(ask_of(), kNow);
  EXPECT_THAT(public_id_of(there), ::testing::StartsWith("ord_"));
  EXPECT_LE(public_id_of(there).size(), 40U);
}

}  // namespace
}  // namespace recourse::store
