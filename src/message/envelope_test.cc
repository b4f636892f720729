#include "message/envelope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "base/text.h"

namespace recourse::message {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Handling kHandling{.kind = task::Kind("orders.paid")};

Envelope envelope_with_id(std::string id) {
  return {.source = "shop", .group = "billing", .topic = "orders", .id = std::move(id)};
}

std::string any_bytes(int size_max) {
  const auto size = *rc::gen::inRange(0, size_max);
  return *rc::gen::container<std::string>(static_cast<std::size_t>(size),
                                          rc::gen::arbitrary<char>());
}

Envelope arbitrary_envelope() {
  Envelope made = envelope_with_id("x" + any_bytes(255));
  made.topic = "t" + any_bytes(100);
  made.source = any_bytes(100);
  made.group = any_bytes(100);
  made.business_id = any_bytes(100);
  made.key = any_bytes(200);
  made.tags = any_bytes(100);
  made.id_origin =
      *rc::gen::element(IdOrigin::kPublisher, IdOrigin::kPosition, IdOrigin::kBodyHash);
  for (int i = *rc::gen::inRange(0, 8); i > 0; --i) {
    made.headers.push_back({.name = any_bytes(3), .value = any_bytes(50)});
  }
  if (*rc::gen::arbitrary<bool>()) {
    made.published_at = TimePoint(Duration(*rc::gen::inRange<std::int64_t>(0, 1LL << 52)));
  }
  return made;
}

// MSG-2: whatever bytes a publisher sends, the task can be stored, and tells them again.
RC_GTEST_PROP(MessageEnvelope, ComesBackAsItWas, ()) {
  Envelope made = arbitrary_envelope();
  const std::string body = any_bytes(100);

  const auto spec = spec_of(made, body, kHandling);

  RC_ASSERT(spec.has_value());
  RC_ASSERT(task::validate(*spec).has_value());
  RC_ASSERT(spec->payload == body);
  std::ranges::stable_sort(made.headers, {}, &Header::name);
  RC_ASSERT(envelope_of(*spec) == made);
}

RC_GTEST_PROP(MessageEnvelope, IsFoundByWhatPeopleKnow, ()) {
  const Envelope made = arbitrary_envelope();

  const auto keys = spec_of(made, "", kHandling).value().search_keys;

  RC_ASSERT(keys.at("message_id") == search_text(made.id));
  RC_ASSERT(keys.at("topic") == search_text(made.topic));
  RC_ASSERT(search_text(made.id).size() <= task::kKeyBytesMax);
  RC_ASSERT(search_text(made.id) == made.id || !is_plain_text(made.id));
}

TEST(MessageEnvelope, OfAMessageKeepsAllButTheBody) {
  const Message message{.source = "shop",
                        .topic = "orders",
                        .tags = "paid",
                        .key = "c-7",
                        .id = "orders-3-17",
                        .id_origin = IdOrigin::kPosition,
                        .headers = {{"trace", "1"}},
                        .body = "{}",
                        .published_at = TimePoint(std::chrono::seconds(5))};

  const Envelope envelope = envelope_of(message, "billing");

  const auto spec = spec_of(envelope, message.body, kHandling).value();
  EXPECT_EQ(envelope_of(spec), envelope);
  EXPECT_EQ(envelope.group, "billing");
  EXPECT_EQ(spec.kind.value, "orders.paid");
  EXPECT_EQ(spec.headers.at("message-id"), "orders-3-17");
  EXPECT_EQ(spec.headers.at("message-key"), "c-7");
  EXPECT_EQ(spec.headers.at("message-header-trace"), "1");
}

TEST(MessageEnvelope, EveryBadFieldIsNamed) {
  Envelope bad = envelope_with_id("");
  bad.topic = "";
  bad.group = std::string(256, 'g');

  const auto refused = spec_of(bad, std::string(task::kPayloadBytesMax + 1, 'x'), kHandling);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  for (const char* field : {"message.id", "message.topic", "message.group", "message.body"}) {
    EXPECT_THAT(refused.error().message, HasSubstr(field));
  }
  EXPECT_THAT(spec_of(envelope_with_id(std::string(256, 'i')), "", kHandling).error().message,
              HasSubstr("message.id (bytes) must be between 1 and 255, not 256"));
  EXPECT_TRUE(spec_of(envelope_with_id(std::string(255, '\xFF')),
                      std::string(task::kPayloadBytesMax, '\0'), kHandling));
}

TEST(MessageEnvelope, HeadersBeyondWhatATaskHoldsAreLeftOut) {
  Envelope many = envelope_with_id("1");
  for (int i = 0; i < 100; ++i) many.headers.push_back({"h" + std::to_string(i), "v"});
  Envelope large = envelope_with_id("1");
  large.headers = {{"large", std::string(10'000, 'x')}, {"small", "v"}};
  large.key = std::string(2'000, 'k');

  const auto kept = envelope_of(spec_of(many, "", kHandling).value());
  const auto small = envelope_of(spec_of(large, "", kHandling).value());

  ASSERT_TRUE(kept && small);
  EXPECT_EQ(kept->headers.size(), task::kHeaderCountMax - 2) << "two tell its id and topic";
  EXPECT_THAT(small->headers, ElementsAre(Header{"small", "v"}));
  EXPECT_THAT(small->key, IsEmpty());
}

TEST(MessageEnvelope, ATraceGoesOn) {
  const std::string trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  Envelope traced = envelope_with_id("1");
  traced.headers = {{"traceparent", trace}};
  Envelope broken = envelope_with_id("1");
  broken.headers = {{"traceparent", "something else"}};

  EXPECT_EQ(spec_of(traced, "", kHandling).value().trace_parent, trace);
  EXPECT_EQ(spec_of(broken, "", kHandling).value().trace_parent, "");
}

TEST(MessageEnvelope, OnlyMessagesOfAKeyHaveAnOrder) {
  Handling ordered = kHandling;
  ordered.ordered = true;
  Envelope keyed = envelope_with_id("1");
  keyed.key = "c-7";
  Envelope other = keyed;
  other.group = "shipping";
  const std::string order(kOrderKey);

  EXPECT_THAT(order_key_of(envelope_with_id("1")), IsEmpty());
  EXPECT_NE(order_key_of(keyed), order_key_of(other));
  EXPECT_EQ(spec_of(keyed, "", ordered).value().search_keys.at(order), order_key_of(keyed));
  EXPECT_FALSE(spec_of(keyed, "", kHandling).value().search_keys.contains(order));
  EXPECT_FALSE(spec_of(envelope_with_id("1"), "", ordered).value().search_keys.contains(order));
}

TEST(MessageEnvelope, ATaskThatIsNoMessageHasNone) {
  task::TaskSpec spec;
  spec.kind = task::Kind("work");
  EXPECT_EQ(envelope_of(spec), std::nullopt);
}

TEST(MessageHandling, EveryBadFieldIsNamed) {
  const Result<> refused = validate(Handling{.kind = task::Kind(""),
                                             .max_retries = -1,
                                             .timeout = Duration::zero(),
                                             .keep_done_for = Duration::zero()});

  ASSERT_FALSE(refused);
  for (const char* field :
       {"handling.kind", "handling.max_retries", "handling.timeout", "handling.keep_done_for"}) {
    EXPECT_THAT(refused.error().message, HasSubstr(field));
  }
  EXPECT_TRUE(validate(kHandling));
}

}  // namespace
}  // namespace recourse::message
