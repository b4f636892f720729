// Keys of create calls: one holder each, one id each, and an answer that is replayed.
#include <atomic>
#include <set>
#include <string>
#include <thread>

#include "store/contract/contract.h"

namespace recourse::store::contract {
namespace {

using namespace std::chrono_literals;

CreateAsk ask_of(const Ulid& id, std::string key = "k-1") {
  return {.key = {.tenant = "7", .business = "ORDER_CREATE", .key = std::move(key)},
          .resource = "ord",
          .hash = std::string(64, 'a'),
          .id = id,
          .ttl = 24h,
          .lock_ttl = 30s};
}

TEST_P(StoreContract, AKeyIsAcquiredOnceAndItsSuccessIsReplayed) {
  const CreateAsk first = ask_of(new_ulid());
  const Acquired acquired = must(creates().acquire(first, kWithin));
  ASSERT_EQ(acquired.how, Acquisition::kAcquired);
  EXPECT_EQ(acquired.creation.id, first.id);
  EXPECT_EQ(acquired.creation.locked_until - acquired.creation.created_at, 30s);
  EXPECT_EQ(must(other_creates().acquire(ask_of(new_ulid()), kWithin)).how,
            Acquisition::kInProgress);

  EXPECT_TRUE(must(creates().succeed(hold_of(acquired.creation), R"({"total":7})", kWithin)));

  const Acquired replayed = must(other_creates().acquire(ask_of(new_ulid()), kWithin));
  EXPECT_EQ(replayed.how, Acquisition::kReplayed);
  EXPECT_EQ(replayed.creation.id, first.id);
  EXPECT_EQ(replayed.creation.value, R"({"total":7})");
  EXPECT_EQ(must(creates().find(first.key, kWithin)), replayed.creation);
  // Saying it again changes nothing.
  EXPECT_TRUE(must(creates().succeed(hold_of(acquired.creation), "other", kWithin)));
  EXPECT_EQ(must(creates().find(first.key, kWithin)), replayed.creation);
}

TEST_P(StoreContract, KeysDifferInEveryPart) {
  using namespace std::string_literals;
  const auto is_new = [&](CreateKey key) {
    CreateAsk ask = ask_of(new_ulid());
    ask.key = std::move(key);
    return must(creates().acquire(ask, kWithin)).how == Acquisition::kAcquired;
  };
  EXPECT_TRUE(is_new({"7", "ORDER_CREATE", "k"}));
  EXPECT_FALSE(is_new({"7", "ORDER_CREATE", "k"}));
  EXPECT_TRUE(is_new({"8", "ORDER_CREATE", "k"}));
  EXPECT_TRUE(is_new({"7", "STORE_CREATE", "k"}));
  EXPECT_TRUE(is_new({"7", "ORDER_CREATE", "K"}));
  EXPECT_TRUE(is_new({"7", "ORDER_CREATE", "k "}));
  EXPECT_TRUE(is_new({"7", "ORDER_CREATE", "\0\xFF"s}));
  EXPECT_TRUE(is_new({"7", "ORDER_CREATE", std::string(kCreateKeyBytesMax, 'k')}));
}

TEST_P(StoreContract, AnotherRequestUnderAKeyIsRefusedWhateverBecameOfTheFirst) {
  const Acquired acquired = must(creates().acquire(ask_of(new_ulid()), kWithin));
  const auto other_hash = [&] {
    CreateAsk other = ask_of(new_ulid());
    other.hash = std::string(64, 'b');
    return code_of(other_creates().acquire(other, kWithin));
  };
  EXPECT_EQ(other_hash(), ErrorCode::kConflict);
  EXPECT_TRUE(must(creates().give_up(hold_of(acquired.creation), "no", kWithin)));
  EXPECT_EQ(other_hash(), ErrorCode::kConflict);
  const Acquired again = must(creates().acquire(ask_of(new_ulid()), kWithin));
  EXPECT_TRUE(must(creates().succeed(hold_of(again.creation), "", kWithin)));
  EXPECT_EQ(other_hash(), ErrorCode::kConflict);
  CreateAsk other = ask_of(new_ulid());
  other.resource = "sto";
  EXPECT_EQ(code_of(creates().acquire(other, kWithin)), ErrorCode::kConflict);
}

TEST_P(StoreContract, AFailedKeyIsTriedAgainAtOnceUnderTheSameId) {
  const Acquired first = must(creates().acquire(ask_of(new_ulid()), kWithin));
  EXPECT_TRUE(must(creates().give_up(hold_of(first.creation), "no stock\xFF", kWithin)));
  EXPECT_EQ(must(creates().find(first.creation.key, kWithin))->error, "no stock\xEF\xBF\xBD");

  const Acquired second = must(other_creates().acquire(ask_of(new_ulid()), kWithin));

  EXPECT_EQ(second.how, Acquisition::kAcquired);
  EXPECT_EQ(second.creation.id, first.creation.id);
  EXPECT_EQ(second.creation.fence, first.creation.fence + 1);
  EXPECT_FALSE(must(creates().succeed(hold_of(first.creation), "late", kWithin)))
      << "whoever had it before is refused";
  EXPECT_FALSE(must(creates().give_up(hold_of(first.creation), "late", kWithin)));
  EXPECT_TRUE(must(creates().succeed(hold_of(second.creation), "", kWithin)));
}

TEST_P(StoreContract, AHolderWhoseLockIsOverIsSucceededUnderTheSameId) {
  CreateAsk ask = ask_of(new_ulid());
  ask.lock_ttl = 100ms;
  const Acquired dead = must(creates().acquire(ask, kWithin));
  Acquired next;
  while (next.how != Acquisition::kAcquired) {
    next = must(other_creates().acquire(ask_of(new_ulid()), kWithin));
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_EQ(next.creation.id, dead.creation.id);
  EXPECT_FALSE(must(creates().succeed(hold_of(dead.creation), "", kWithin)));
  EXPECT_GE(next.creation.locked_until, dead.creation.locked_until);
}

TEST_P(StoreContract, OfManyWhoAcquireAKeyOneDoes) {
  std::atomic<int> winners = 0;
  std::vector<std::thread> threads;
  Creates& beside = other_creates();
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int key = 0; key < 20; ++key) {
        const auto got = (i % 2 == 0 ? creates() : beside)
                             .acquire(ask_of(new_ulid(), std::to_string(key)), kWithin);
        if (got && got->how == Acquisition::kAcquired) ++winners;
        EXPECT_TRUE(got) << got.error().message;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(winners, 20);
}

TEST_P(StoreContract, AKeyWhoseTimeIsOverIsSweptAndStartsAnew) {
  CreateAsk ask = ask_of(new_ulid());
  ask.ttl = 1s;
  ask.lock_ttl = 100ms;
  const Acquired old = must(creates().acquire(ask, kWithin));
  EXPECT_TRUE(must(creates().succeed(hold_of(old.creation), "", kWithin)));
  (void)must(creates().acquire(ask_of(new_ulid(), "lasting"), kWithin));
  EXPECT_EQ(must(creates().sweep(10, kWithin)), 0U);
  while (must(creates().find(ask.key, kWithin))) std::this_thread::sleep_for(20ms);

  CreateAsk again = ask_of(new_ulid());
  again.hash = std::string(64, 'c');
  const Acquired fresh = must(creates().acquire(again, kWithin));
  EXPECT_EQ(fresh.how, Acquisition::kAcquired);
  EXPECT_EQ(fresh.creation.id, again.id) << "another thing, under a new id";

  CreateAsk brief = ask_of(new_ulid(), "brief");
  brief.ttl = 1s;
  brief.lock_ttl = 100ms;
  (void)must(creates().acquire(brief, kWithin));
  while (must(creates().find(brief.key, kWithin))) std::this_thread::sleep_for(20ms);
  EXPECT_EQ(must(creates().sweep(10, kWithin)), 1U);
  EXPECT_TRUE(must(creates().find(again.key, kWithin)));
}

TEST_P(StoreContract, ALongValueIsCutAndSaidToBe) {
  const Acquired acquired = must(creates().acquire(ask_of(new_ulid()), kWithin));
  EXPECT_TRUE(
      must(creates().succeed(hold_of(acquired.creation), std::string(5'000, 'v'), kWithin)));
  const auto kept = must(creates().find(acquired.creation.key, kWithin));
  EXPECT_TRUE(kept->is_cut);
  EXPECT_EQ(kept->value.size(), kCreateValueBytesMax);
}

TEST_P(StoreContract, ABadKeyIsRefusedAndNothingIsWritten) {
  CreateAsk bad = ask_of(new_ulid());
  bad.key.key = std::string(kCreateKeyBytesMax + 1, 'k');
  EXPECT_EQ(code_of(creates().acquire(bad, kWithin)), ErrorCode::kInvalid);
  EXPECT_EQ(code_of(creates().find(bad.key, kWithin)), ErrorCode::kInvalid);
}

}  // namespace
}  // namespace recourse::store::contract
