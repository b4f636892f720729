#include "message/key.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <string>

namespace recourse::message {
namespace {

constexpr Scope kScope{.source = "shop", .group = "billing", .topic = "orders"};

std::string arbitrary_id() {
  const auto number = [] { return std::to_string(*rc::gen::arbitrary<std::uint64_t>()); };
  switch (*rc::gen::inRange(0, 5)) {
    case 0: return *rc::gen::arbitrary<std::string>();
    case 1: return number() + "-" + number();
    case 2: return *rc::gen::arbitrary<std::string>() + "-" + number() + "-" + number();
    case 3: return *rc::gen::arbitrary<std::string>() + number();
    default: return *rc::gen::container<std::string>(rc::gen::elementOf(std::string("-01a")));
  }
}

RC_GTEST_PROP(MessageKey, IsOneForOneIdAndFitsIntoTheStore, ()) {
  const std::string id = arbitrary_id();

  const store::MessageKey key = key_of(kScope, id);

  RC_ASSERT(key == key_of(kScope, std::string(id)));
  RC_ASSERT(key.value.size() <= store::kMessageKeyBytesMax);
}

RC_GTEST_PROP(MessageKey, DiffersWhereIdsDiffer, ()) {
  const std::string one = arbitrary_id();
  const std::string other = arbitrary_id();

  RC_ASSERT((key_of(kScope, one) == key_of(kScope, other)) == (one == other));
}

RC_GTEST_PROP(MessageKey, DiffersWhereScopesDiffer, ()) {
  const auto [source, group, topic] =
      *rc::gen::tuple(rc::gen::arbitrary<std::string>(), rc::gen::arbitrary<std::string>(),
                      rc::gen::arbitrary<std::string>());
  const Scope scope{.source = source, .group = group, .topic = topic};
  const std::string both = source + group;
  const Scope shifted{.source = both, .group = "", .topic = topic};
  RC_PRE(!group.empty());

  RC_ASSERT(key_of(scope, "7") != key_of(shifted, "7"));
  RC_ASSERT(key_of(scope, "7") != key_of(kScope, "7"));
}

// I12, and what makes marks cheap.
RC_GTEST_PROP(MessageKey, AscendsWithinAPartition, ()) {
  const auto partition = *rc::gen::inRange(0, 1'000);
  const auto offset = *rc::gen::arbitrary<std::uint64_t>();
  const auto later = *rc::gen::arbitrary<std::uint64_t>();
  RC_PRE(offset < later);

  const auto key = [&](std::uint64_t at) {
    return key_of(kScope, fmt::format("orders-{}-{}", partition, at));
  };

  RC_ASSERT(key(offset) < key(later));
  RC_ASSERT(key_of(kScope, fmt::format("{}-7", offset)) <
            key_of(kScope, fmt::format("{}-0", later)));
}

RC_GTEST_PROP(MessageKey, AscendsWithTheNumberAtTheEnd, ()) {
  const auto before = *rc::gen::element<std::string>("", "order-", "shop.eu/", "orders-x-");
  const auto number = *rc::gen::arbitrary<std::uint64_t>();
  const auto larger = *rc::gen::arbitrary<std::uint64_t>();
  RC_PRE(number < larger);

  RC_ASSERT(key_of(kScope, before + std::to_string(number)) <
            key_of(kScope, before + std::to_string(larger)));
}

// Of ULIDs and of UUIDs that begin with a time: whatever they end in.
TEST(MessageKey, AscendsWithWhatStandsInFront) {
  EXPECT_LT(key_of(kScope, "01JCZ8K0T9ZZZZZZZZZZZZZZZ7"),
            key_of(kScope, "01JCZ8K1T9000000000000000A"));
  EXPECT_LT(key_of(kScope, "018f2b3c-4d5e-7fff-bfff-ffffffffff12"),
            key_of(kScope, "018f2b3d-0000-7000-8000-00000000000a"));
}

RC_GTEST_PROP(MessageKey, OfWhatIsDoneIsAnother, ()) {
  const store::MessageKey key = key_of(kScope, arbitrary_id());
  const store::MessageKey other = key_of(kScope, arbitrary_id());

  RC_ASSERT(done_key_of(key) != key);
  RC_ASSERT(done_key_of(key) != other);
  RC_ASSERT((done_key_of(key) == done_key_of(other)) == (key == other));
  RC_ASSERT(done_key_of(key).value.size() == key.value.size());
}

TEST(MessageKey, SpellingsOfANumberAreNotOne) {
  EXPECT_NE(key_of(kScope, "orders-3-7"), key_of(kScope, "orders-3-07"));
  EXPECT_NE(key_of(kScope, "orders-3-7"), key_of(kScope, "orders-03-7"));
  EXPECT_NE(key_of(kScope, "3-7"), key_of(kScope, "-3-7"));
  EXPECT_NE(key_of(kScope, "3-7"), key_of(kScope, "3--7"));
}

// Stored: it must never change.
TEST(MessageKey, IsTheSameForEver) {
  const auto hex = [](const store::MessageKey& key) {
    std::string text;
    for (const char c : key.value) text += fmt::format("{:02x}", static_cast<std::uint8_t>(c));
    return text;
  };

  EXPECT_EQ(hex(key_of(kScope, "orders-3-1187")),
            "72157edbe3b5024d0d62343f3d4ff78d7f7bf7441d022583000000000000000300000000000004a3");
  EXPECT_EQ(hex(key_of(kScope, "m-1a")),
            "72157edbe3b5024d6d2d31610000000069176568f4757277b806e95b4ed3f6b9");
  EXPECT_EQ(hex(key_of(kScope, "order/4711")).substr(48), "0000000000001267");
}

}  // namespace
}  // namespace recourse::message
