// Nodes: they join, beat, are declared dead once and for all, and confirm pauses.
#include <algorithm>

#include "store/contract/contract.h"

namespace recourse::store::contract {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST_P(StoreContract, ANodeThatJoinedIsListed) {
  const Incarnation incarnation(new_ulid());
  const NodeInfo info{
      .incarnation = incarnation, .name = "host-7 \xC3\xA9", .kinds = {Kind("mail"), Kind("sms")}};

  const TimePoint before = store_now();

  const Joined joined = must(store().join(info, kWithin));

  const NodeRow row = node_row(incarnation);
  EXPECT_EQ(row.info.name, info.name);
  EXPECT_THAT(row.info.kinds, UnorderedElementsAre(Kind("mail"), Kind("sms")));
  EXPECT_FALSE(row.dead);
  EXPECT_GE(joined.now, before);
  EXPECT_GE(row.started_at, before);
  EXPECT_LE(row.started_at, store_now());
  EXPECT_GE(row.beat_at, row.started_at);
}

TEST_P(StoreContract, AJoinThatIsRepeatedLeavesOneNode) {
  const NodeInfo info{.incarnation = Incarnation(new_ulid()), .name = "n", .kinds = {}};
  (void)must(store().join(info, kWithin));
  (void)must(store().join(info, kWithin));

  const std::vector<NodeRow> rows = must(reader().nodes(kWithin));
  EXPECT_EQ(std::ranges::count(rows, info.incarnation,
                               [](const NodeRow& row) { return row.info.incarnation; }),
            1);
}

TEST_P(StoreContract, AHeartbeatAdvancesTheBeat) {
  const NodeRow before = node_row(node());

  const Pulse pulse = must(store().heartbeat(node(), 0, kWithin));

  const NodeRow after = node_row(node());
  EXPECT_EQ(after.beat, before.beat + 1);
  EXPECT_GE(after.beat_at, before.beat_at);
  EXPECT_GE(pulse.now, before.beat_at);
  EXPECT_EQ(after.started_at, before.started_at);
}

TEST_P(StoreContract, AHeartbeatIsOfOneNodeOnly) {
  const Incarnation other = join();
  const std::int64_t before = node_row(other).beat;

  (void)must(store().heartbeat(node(), 0, kWithin));

  EXPECT_EQ(node_row(other).beat, before);
}

TEST_P(StoreContract, ANodeWhoseBeatStoodStillIsDeclaredDead) {
  const Incarnation other = join();

  EXPECT_TRUE(must(store().declare_dead(other, node_row(other).beat, "first", kWithin)));

  EXPECT_TRUE(node_row(other).dead);
  EXPECT_FALSE(node_row(node()).dead);
}

TEST_P(StoreContract, ANodeThatHasBeatenSinceIsNotDead) {
  const Incarnation other = join();
  const std::int64_t seen = node_row(other).beat;
  (void)must(store().heartbeat(other, 0, kWithin));

  EXPECT_FALSE(must(store().declare_dead(other, seen, "first", kWithin)));

  EXPECT_FALSE(node_row(other).dead);
  (void)must(store().heartbeat(other, 0, kWithin));
}

TEST_P(StoreContract, ADeclarationOfDeathMayBeRepeated) {
  const Incarnation other = join();
  const std::int64_t seen = node_row(other).beat;

  EXPECT_TRUE(must(store().declare_dead(other, seen, "first", kWithin)));
  EXPECT_TRUE(must(store().declare_dead(other, seen, "second", kWithin)));
  EXPECT_TRUE(must(store().declare_dead(other, seen + 5, "third", kWithin)));
}

TEST_P(StoreContract, ADeadNodesHeartbeatIsAConflictForEver) {
  const Incarnation other = join();
  kill(other);
  const NodeRow before = node_row(other);

  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(code_of(store().heartbeat(other, 7, kWithin)), ErrorCode::kConflict);
  }

  const NodeRow after = node_row(other);
  EXPECT_EQ(after.beat, before.beat);
  EXPECT_EQ(after.beat_at, before.beat_at);
  EXPECT_EQ(after.pauses_seen, before.pauses_seen);
  EXPECT_TRUE(after.dead);
}

TEST_P(StoreContract, ADeadNodeDoesNotRiseByJoiningAgain) {
  const NodeInfo info{.incarnation = Incarnation(new_ulid()), .name = "n", .kinds = {}};
  (void)must(store().join(info, kWithin));
  kill(info.incarnation);

  const Result<Joined> again = store().join(info, kWithin);

  EXPECT_TRUE(again || again.error().code == ErrorCode::kConflict);
  EXPECT_TRUE(node_row(info.incarnation).dead);
  EXPECT_EQ(code_of(store().heartbeat(info.incarnation, 0, kWithin)), ErrorCode::kConflict);
}

TEST_P(StoreContract, ANodeThatNeverJoinedIsAsGoodAsDead) {
  const Incarnation unknown(new_ulid());

  EXPECT_EQ(code_of(store().heartbeat(unknown, 0, kWithin)), ErrorCode::kConflict);
  EXPECT_TRUE(must(store().declare_dead(unknown, 0, "first", kWithin)));
}

TEST_P(StoreContract, ANodesDeathIsInTheAudit) {
  const Incarnation other = join();
  kill(other);
  kill(other);

  std::vector<std::string> deaths;
  for (const AuditEntry& entry : audit_of(std::nullopt)) {
    if (entry.action == "node_dead") deaths.push_back(entry.actor);
  }
  EXPECT_THAT(deaths, ElementsAre("first")) << "it died once";
}

TEST_P(StoreContract, APauseIsANumberedListThatNodesConfirm) {
  const std::int64_t first = must(store().pause_kind(Kind("mail"), true, "alice", kWithin));
  const std::int64_t second = must(store().pause_kind(Kind("sms"), true, "alice", kWithin));

  EXPECT_GT(second, first);
  const Pulse pulse = must(store().heartbeat(node(), first, kWithin));
  EXPECT_EQ(pulse.pauses.version, second);
  EXPECT_THAT(pulse.pauses.kinds, UnorderedElementsAre(Kind("mail"), Kind("sms")));
  EXPECT_EQ(node_row(node()).pauses_seen, first);
  EXPECT_EQ(must(reader().pauses(kWithin)), pulse.pauses);
}

TEST_P(StoreContract, AResumedKindLeavesTheList) {
  const std::int64_t paused = must(store().pause_kind(Kind("mail"), true, "alice", kWithin));
  const std::int64_t resumed = must(store().pause_kind(Kind("mail"), false, "alice", kWithin));

  EXPECT_GT(resumed, paused);
  const Pauses pauses = must(reader().pauses(kWithin));
  EXPECT_EQ(pauses.version, resumed);
  EXPECT_THAT(pauses.kinds, IsEmpty());
}

TEST_P(StoreContract, PausingWhatIsPausedChangesNoList) {
  (void)must(store().pause_kind(Kind("mail"), true, "alice", kWithin));
  const std::int64_t again = must(store().pause_kind(Kind("mail"), true, "bob", kWithin));

  const Pauses pauses = must(reader().pauses(kWithin));
  EXPECT_EQ(pauses.version, again);
  EXPECT_THAT(pauses.kinds, ElementsAre(Kind("mail")));
}

TEST_P(StoreContract, ANodeThatJoinsIsToldThePauses) {
  const std::int64_t version = must(store().pause_kind(Kind("mail"), true, "alice", kWithin));

  const Joined joined = must(
      store().join({.incarnation = Incarnation(new_ulid()), .name = "late", .kinds = {}}, kWithin));

  EXPECT_EQ(joined.pauses.version, version);
  EXPECT_THAT(joined.pauses.kinds, Contains(Kind("mail")));
}

}  // namespace
}  // namespace recourse::store::contract
