// Records: one winner per name, no lost updates, gone when their time is over.
#include <atomic>
#include <string>
#include <thread>

#include "store/contract/contract.h"

namespace recourse::store::contract {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Record record_of(std::string name, std::string value = "value", std::string space = "token") {
  return {.space = std::move(space), .name = std::move(name), .value = std::move(value)};
}

std::vector<std::string> names_of(const RecordPage& page) {
  std::vector<std::string> names;
  for (const Record& record : page.records) names.push_back(record.name);
  return names;
}

TEST_P(StoreContract, ARecordIsKeptAsItWasGiven) {
  using namespace std::string_literals;
  const Record record = record_of("a\0b\xFF"s, "\0\x80 bytes"s);

  const AddedRecord added = must(records().add(record, std::nullopt, kWithin));

  EXPECT_TRUE(added.added);
  EXPECT_EQ(added.record, record);
  EXPECT_EQ(must(other_records().find("token", record.name, kWithin)), record);
}

TEST_P(StoreContract, TheSecondToAddANameIsShownTheFirst) {
  (void)must(records().add(record_of("one", "first"), std::nullopt, kWithin));

  const AddedRecord second =
      must(other_records().add(record_of("one", "second"), std::nullopt, kWithin));

  EXPECT_FALSE(second.added);
  EXPECT_EQ(second.record.value, "first");
  EXPECT_TRUE(must(records().add(record_of("one", "x", "job"), std::nullopt, kWithin)).added)
      << "another space";
  EXPECT_TRUE(must(records().add(record_of("One"), std::nullopt, kWithin)).added);
  EXPECT_TRUE(must(records().add(record_of("one "), std::nullopt, kWithin)).added);
}

TEST_P(StoreContract, OfManyWhoAddANameOneWins) {
  std::atomic<int> winners = 0;
  const auto add = [&](Records& to, int i) {
    const auto added = to.add(record_of("race", std::to_string(i)), std::nullopt, kWithin);
    if (added && added->added) ++winners;
  };
  Records& beside = other_records();

  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] { add(i % 2 == 0 ? records() : beside, i); });
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(winners, 1);
}

TEST_P(StoreContract, AReplacedRecordHasAHigherVersionAndTheOldOneIsRefused) {
  Record record = must(records().add(record_of("one"), std::nullopt, kWithin)).record;
  record.value = "new";

  const Record replaced = must(records().replace(record, std::nullopt, kWithin));
  const auto late = other_records().replace(record, std::nullopt, kWithin);

  EXPECT_EQ(replaced.version, 2);
  EXPECT_EQ(code_of(late), ErrorCode::kConflict);
  EXPECT_EQ(must(records().find("token", "one", kWithin)), replaced);
}

TEST_P(StoreContract, WhatIsNotThereIsNeitherReplacedNorRemoved) {
  EXPECT_EQ(code_of(records().replace(record_of("none"), std::nullopt, kWithin)),
            ErrorCode::kNotFound);
  EXPECT_FALSE(must(records().remove("token", "none", kWithin)));
  EXPECT_EQ(must(records().find("token", "none", kWithin)), std::nullopt);
}

TEST_P(StoreContract, ARemovedRecordIsGone) {
  (void)must(records().add(record_of("one"), std::nullopt, kWithin));

  EXPECT_TRUE(must(other_records().remove("token", "one", kWithin)));

  EXPECT_EQ(must(records().find("token", "one", kWithin)), std::nullopt);
  EXPECT_TRUE(must(records().add(record_of("one"), std::nullopt, kWithin)).added);
}

TEST_P(StoreContract, WhatWasDoneToARecordIsInTheAuditOnce) {
  const Deed made{.actor = "alice", .action = "token_created", .detail = "ci"};
  const Deed gone{.actor = "bob", .action = "token_revoked", .detail = "ci"};

  (void)must(records().add(record_of("one"), std::nullopt, kWithin, made));
  (void)must(records().add(record_of("one"), std::nullopt, kWithin, made));
  (void)must(records().remove("token", "one", kWithin, gone));
  (void)must(records().remove("token", "one", kWithin, gone));

  std::vector<std::string> deeds;
  for (const AuditEntry& entry : audit_of(std::nullopt)) {
    if (entry.action.starts_with("token_")) {
      deeds.push_back(entry.actor + " " + entry.action + " " + entry.detail);
    }
  }
  // The newest first.
  EXPECT_THAT(deeds, ElementsAre("bob token_revoked ci", "alice token_created ci"));
  EXPECT_EQ(code_of(records().remove("token", "one", kWithin, Deed{"", "x", ""})),
            ErrorCode::kInvalid);
}

TEST_P(StoreContract, AnExpiredRecordIsAsGoodAsGoneAndSweptUp) {
  const AddedRecord old = must(records().add(record_of("old"), kInstant, kWithin));
  (void)must(records().add(record_of("young"), kHour, kWithin));
  (void)must(records().add(record_of("eternal"), std::nullopt, kWithin));
  pass(old.record.expires_at.value());

  EXPECT_EQ(must(records().find("token", "old", kWithin)), std::nullopt);
  EXPECT_THAT(names_of(must(records().list("token", std::nullopt, 10, kWithin))),
              ElementsAre("eternal", "young"));
  EXPECT_EQ(code_of(records().replace(old.record, std::nullopt, kWithin)), ErrorCode::kNotFound);
  EXPECT_EQ(must(records().sweep(100, kWithin)), 1U);
  EXPECT_EQ(must(records().sweep(100, kWithin)), 0U);
}

TEST_P(StoreContract, AnExpiredNameCanBeAddedAgain) {
  const AddedRecord old = must(records().add(record_of("one", "old"), kInstant, kWithin));
  pass(old.record.expires_at.value());

  EXPECT_TRUE(must(records().add(record_of("one", "new"), kHour, kWithin)).added);

  EXPECT_EQ(must(records().find("token", "one", kWithin)).value().value, "new");
}

TEST_P(StoreContract, RecordsAreListedByNameInPages) {
  for (const char* name : {"c", "a", "b", "d"})
    (void)must(records().add(record_of(name), std::nullopt, kWithin));
  (void)must(records().add(record_of("b2", "x", "job"), std::nullopt, kWithin));

  const RecordPage first = must(records().list("token", std::nullopt, 3, kWithin));
  const RecordPage second = must(records().list("token", first.next, 3, kWithin));

  EXPECT_THAT(names_of(first), ElementsAre("a", "b", "c"));
  EXPECT_THAT(names_of(second), ElementsAre("d"));
  EXPECT_EQ(second.next, std::nullopt);
  EXPECT_THAT(names_of(must(records().list("nothing", std::nullopt, 3, kWithin))), IsEmpty());
}

TEST_P(StoreContract, ARecordBeyondItsBoundsIsRefusedAndNothingIsWritten) {
  const auto code = [&](const Record& record) {
    return code_of(records().add(record, std::nullopt, kWithin));
  };

  EXPECT_EQ(code(record_of("")), ErrorCode::kInvalid);
  EXPECT_EQ(code(record_of(std::string(kRecordNameBytesMax + 1, 'x'))), ErrorCode::kInvalid);
  EXPECT_EQ(code(record_of("big", std::string(kRecordValueBytesMax + 1, 'x'))),
            ErrorCode::kInvalid);
  EXPECT_EQ(code(record_of("one", "x", "")), ErrorCode::kInvalid);
  EXPECT_THAT(names_of(must(records().list("token", std::nullopt, 3, kWithin))), IsEmpty());
  EXPECT_EQ(code(record_of(std::string(kRecordNameBytesMax, 'x'),
                           std::string(kRecordValueBytesMax, '\0'))),
            std::nullopt);
}

}  // namespace
}  // namespace recourse::store::contract
