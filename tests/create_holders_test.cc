// Who has a key, who waits for it, and what becomes of one that hangs.
#include <stdexcept>

#include "tests/create_fixture.h"

namespace recourse::tests {
namespace {

using ::testing::HasSubstr;

// IDEM-5
TEST_P(CreateOnStore, WhoMeetsAKeyInProgressIsToldAtOnceOrWaits) {
  std::atomic<bool> entered = false;
  std::atomic<bool> leave = false;
  CreateRequest slow = request_of("k-1");
  // On SQLite the one writer is taken meanwhile; without a transaction it is not.
  slow.mode = TransactionMode::kAwareOnly;
  std::thread holder([&] {
    const auto made = create_.run_bytes(slow, [&](CreateTransaction&, const NewResource& order) {
      entered = true;
      while (!leave) std::this_thread::sleep_for(1ms);
      return Result<std::string>(order.public_id);
    });
    EXPECT_TRUE(made) << made.error().message;
  });
  ASSERT_TRUE(eventually([&] { return entered.load(); }));

  const auto told = create(request_of("k-1"));
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_TRUE(told->in_progress);
  EXPECT_EQ(told->public_id, "");
  EXPECT_EQ(told->internal_id.value, "");
  CreateRequest brief = request_of("k-1");
  brief.wait_for_completion = true;
  brief.wait_max = 50ms;
  EXPECT_TRUE(create(brief)->in_progress);

  CreateRequest patient = brief;
  patient.wait_max = 10s;
  std::thread waiter([&] {
    const auto waited = create(patient);
    ASSERT_TRUE(waited) << waited.error().message;
    EXPECT_TRUE(waited->replayed);
  });
  std::this_thread::sleep_for(30ms);
  leave = true;
  holder.join();
  waiter.join();
  EXPECT_EQ(runs_, 0);
}

// IDEM-5: failure raises. A waiter that comes after the failure creates the thing itself; then the
// test tries again with a holder that stays longer.
TEST_P(CreateOnStore, WhoWaitsForACallThatFailsIsToldSo) {
  Result<Created<std::string>> waited = Created<std::string>{};
  for (Duration stays = 30ms; waited && stays < 10s; stays *= 4) {
    std::atomic<bool> entered = false;
    CreateRequest request = request_of("k-" + std::to_string(stays.count()));
    request.mode = TransactionMode::kAwareOnly;
    std::thread holder([&] {
      const auto fails = [&](CreateTransaction&, const NewResource&) -> Result<std::string> {
        entered = true;
        std::this_thread::sleep_for(stays);
        throw std::runtime_error("no stock");
      };
      EXPECT_THROW((void)create_.run_bytes(request, fails), std::runtime_error);
    });
    EXPECT_TRUE(eventually([&] { return entered.load(); }));
    CreateRequest patient = request_of(request.key);
    patient.wait_for_completion = true;
    patient.wait_max = 20s;
    waited = create(patient);
    holder.join();
  }

  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(waited.error().message, HasSubstr("no stock"));
}

// IDEM-8, and "Settled": a holder that hangs is cut off when its lock ends.
TEST_P(CreateOnStore, AHolderThatHangsIsCutOffAndSucceededUnderTheSameId) {
  std::atomic<bool> entered = false;
  std::atomic<bool> leave = false;
  std::string hung_id;
  CreateRequest brief = request_of("k-1");
  brief.lock_ttl = 400ms;
  std::thread hung([&] {
    const auto late =
        create_.run_bytes(brief, [&](CreateTransaction& own, const NewResource& order) {
          hung_id = order.public_id;
          EXPECT_TRUE(place(own, order, "k-1"));
          entered = true;
          while (!leave) std::this_thread::sleep_for(1ms);
          return Result<std::string>(order.public_id);
        });
    EXPECT_FALSE(late);
  });
  ASSERT_TRUE(eventually([&] { return entered.load(); }));
  CreateRequest next = request_of("k-1");
  next.wait_for_completion = true;
  next.wait_max = 20s;
  const auto begun = std::chrono::steady_clock::now();

  const auto made = create(next);

  ASSERT_TRUE(made) << made.error().message;
  EXPECT_FALSE(made->replayed || made->in_progress);
  // On SQLite nobody ever saw the key of the one that was cut off.
  EXPECT_TRUE(made->public_id == hung_id || GetParam() == std::string("Sqlite"));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 5s);
  EXPECT_EQ(orders(), 1);
  leave = true;
  hung.join();
  EXPECT_EQ(orders(), 1);
  EXPECT_EQ(create(request_of("k-1"))->public_id, made->public_id);
}

// IDEM-8: the old holder's commit is refused.
TEST_P(CreateOnStore, AHolderWhoseLockIsOverMayNotCommitInTheNameOfTheKey) {
  CreateRequest brief = request_of("k-1");
  brief.lock_ttl = 200ms;
  brief.mode = TransactionMode::kAwareOnly;
  const auto late = create_.run_bytes(brief, [&](CreateTransaction&, const NewResource& order) {
    EXPECT_TRUE(eventually([&] {
      const auto next = create(request_of("k-1"));
      return next && !next->in_progress;
    }));
    return Result<std::string>(order.public_id);
  });
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kConflict);
  EXPECT_THAT(late.error().message, HasSubstr("lock"));
  EXPECT_EQ(orders(), 1);
}

// "Settled": a create inside the caller's own write transaction is an error, never a hang.
TEST(CreateOnSqlite, InsideTheCallersOwnTransactionItIsToldAtOnce) {
  const Place place("Sqlite");
  Engine engine = Engine::open({.store = place.url()}).value();
  Create create(engine);
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_TRUE(create.transact(5s, [&](CreateTransaction&) -> Result<> {
    for (const auto mode : {TransactionMode::kRequiresNew, TransactionMode::kAwareOnly}) {
      CreateRequest request = request_of("k-1");
      request.mode = mode;
      const auto inside = create.run_bytes(
          request, [](CreateTransaction&, const NewResource&) { return Result<std::string>(""); });
      EXPECT_EQ(inside.error().code, ErrorCode::kInvalid);
      EXPECT_THAT(inside.error().message, HasSubstr("would wait for itself"));
    }
    return {};
  }));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 2s);
}

}  // namespace
}  // namespace recourse::tests
