// The promises of idempotent create, on every database.
#include <stdexcept>

#include "recourse/json.h"
#include "tests/create_fixture.h"

namespace recourse::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Placed {
  std::string id;
  int amount = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Placed, id, amount)

INSTANTIATE_TEST_SUITE_P(Stores, CreateOnStore, kCreateStores, create_store_name);

// IDEM-2, IDEM-3: what was answered is on disk, under both ids.
TEST_P(CreateOnStore, CreatesOnceAndReplaysTheAnswer) {
  const auto first = create(request_of("k-1"));
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_FALSE(first->replayed);
  EXPECT_THAT(first->public_id, StartsWith("ord_"));
  EXPECT_LE(first->public_id.size(), 40U);
  EXPECT_EQ(first->internal_id.value.size(), 16U);
  EXPECT_EQ(first->value, first->public_id);
  EXPECT_EQ(rows("SELECT public_id FROM shop_order WHERE id = ?", {first->internal_id}).at(0).at(0),
            SqlValue(first->public_id));

  // IDEM-4
  const auto again = create(request_of("k-1"));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->replayed);
  EXPECT_EQ(again->public_id, first->public_id);
  EXPECT_EQ(again->internal_id, first->internal_id);
  EXPECT_EQ(again->value, first->value);
  EXPECT_EQ(runs_, 1);
  EXPECT_EQ(orders(), 1);
  // IDEM-6
  EXPECT_EQ(rows("SELECT result_ref FROM recourse_create").at(0).at(0).index(),
            GetParam() == std::string("Mariadb") ? 3U : 2U);
}

TEST_P(CreateOnStore, AValueOfTheUsersTypeIsReplayedAsItWas) {
  const auto work = [&](CreateTransaction& own, const NewResource& order) -> Result<Placed> {
    const auto placed = place(own, order, "k-1");
    if (!placed) return fail(placed.error());
    return Placed{.id = order.public_id, .amount = 7};
  };
  const auto first = create_.run<Placed>(request_of("k-1"), work);
  const auto again = create_.run<Placed>(request_of("k-1"), work);
  ASSERT_TRUE(first && again);
  EXPECT_TRUE(again->replayed);
  EXPECT_EQ(again->value->id, first->value->id);
  EXPECT_EQ(again->value->amount, 7);
}

// IDEM-4
TEST_P(CreateOnStore, AnotherRequestUnderTheKeyIsRefusedEveryTime) {
  ASSERT_TRUE(create(request_of("k-1")));
  for (int i = 0; i < 3; ++i) {
    const auto other = create(request_of("k-1", R"({"amount": 8})"));
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, ErrorCode::kConflict);
    EXPECT_THAT(other.error().message, HasSubstr("take a new key"));
  }
  CreateRequest store = request_of("k-1");
  store.resource_type = "sto";
  EXPECT_EQ(create(store).error().code, ErrorCode::kConflict);
  EXPECT_EQ(runs_, 1);
}

// IDEM-7
TEST_P(CreateOnStore, AWorkThatFailsLeavesNothingAndCanBeTriedAgainUnderTheSameId) {
  std::string first_id;
  const auto failing = [&](CreateTransaction& own,
                           const NewResource& order) -> Result<std::string> {
    first_id = order.public_id;
    EXPECT_TRUE(place(own, order, "k-1"));
    throw std::logic_error("a bug of the shop's");
  };
  try {
    (void)create_.run_bytes(request_of("k-1"), failing);
    FAIL() << "what the work throws comes out";
  } catch (const std::logic_error& thrown) {
    EXPECT_STREQ(thrown.what(), "a bug of the shop's");
  }
  EXPECT_EQ(orders(), 0);
  const auto refused = create_.run_bytes(
      request_of("k-1"), [&](CreateTransaction&, const NewResource&) -> Result<std::string> {
        return fail(ErrorCode::kExhausted, "no stock");
      });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), (Error{ErrorCode::kExhausted, "no stock"}));
  EXPECT_EQ(number("SELECT COUNT(*) FROM recourse_create WHERE state = 'failed' AND error = 'no "
                   "stock'"),
            1);

  const auto made = create(request_of("k-1"));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_FALSE(made->replayed);
  EXPECT_EQ(made->public_id, first_id);
  EXPECT_EQ(orders(), 1);
}

// IDEM-6
TEST_P(CreateOnStore, AValueOfMoreThan4096BytesReplaysAsAnIdAlone) {
  const auto big = [](CreateTransaction&, const NewResource&) {
    return Result<std::string>(std::string(5'000, 'v'));
  };
  const auto first = create_.run<std::string>(request_of("k-1"), big);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->value->size(), 5'000U);
  const auto again = create_.run<std::string>(request_of("k-1"), big);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->replayed);
  EXPECT_EQ(again->public_id, first->public_id);
  EXPECT_EQ(again->value, std::nullopt);
}

// Domain events after the commit, and only then.
TEST_P(CreateOnStore, TasksOfTheWorkExistIfItCommits) {
  const auto with_mail = [&](bool fails) {
    return [this, fails](CreateTransaction& own, const NewResource& order) -> Result<std::string> {
      const auto mail = own.submit_bytes("mail", order.public_id, {.search_keys = {{"o", "1"}}});
      EXPECT_TRUE(mail) << mail.error().message;
      if (mail) mail_ = *mail;
      if (fails) return fail(ErrorCode::kExhausted, "no stock");
      return place(own, order, "k-1");
    };
  };
  EXPECT_FALSE(create_.run_bytes(request_of("k-1"), with_mail(true)));
  EXPECT_EQ(engine_.find(mail_).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(create_.run_bytes(request_of("k-1"), with_mail(false)));
  EXPECT_EQ(engine_.find(mail_).value().state, "pending");
  // One that is refused leaves the transaction as it was.
  const auto made =
      create_.run_bytes(request_of("k-2"), [&](CreateTransaction& own, const NewResource& order) {
        EXPECT_EQ(own.submit_bytes("mail", "", {.priority = 99}).error().code, ErrorCode::kInvalid);
        return place(own, order, "k-2");
      });
  EXPECT_TRUE(made) << made.error().message;
}

// IDEM-1: nothing is written.
TEST_P(CreateOnStore, BadInputIsRefusedByFieldName) {
  const auto complaint = [&](auto change) {
    CreateRequest request = request_of("k-1");
    change(request);
    const auto made = create(request);
    return made ? "none" : made.error().message;
  };
  EXPECT_THAT(complaint([](auto& request) { request.tenant = 0; }), HasSubstr("create.tenant"));
  EXPECT_THAT(complaint([](auto& request) { request.business_type = ""; }),
              HasSubstr("create.business_type"));
  EXPECT_THAT(complaint([](auto& request) { request.resource_type = "Ord!"; }),
              HasSubstr("create.resource_type"));
  EXPECT_THAT(complaint([](auto& request) { request.request_hash.pop_back(); }),
              HasSubstr("create.request_hash"));
  EXPECT_THAT(complaint([](auto& request) { request.key = ""; }), HasSubstr("create.key"));
  EXPECT_THAT(complaint([](auto& request) { request.key = std::string(256, 'k'); }),
              HasSubstr("create.key"));
  EXPECT_THAT(complaint([](auto& request) { request.ttl = -1s; }), HasSubstr("create.ttl"));
  EXPECT_THAT(complaint([](auto& request) { request.lock_ttl = 0s; }),
              HasSubstr("create.lock_ttl"));
  EXPECT_THAT(complaint([](auto& request) { request.mode = TransactionMode::kRequired; }),
              HasSubstr("create.mode"));
  EXPECT_EQ(runs_, 0);
  EXPECT_EQ(keys(), 0);
  EXPECT_EQ(orders(), 0);
}

// A slip in a user's own statement is an error of that statement.
TEST_P(CreateOnStore, AStatementWithTheWrongValuesIsRefused) {
  EXPECT_TRUE(create(request_of("k-0")));
  const auto refused = [&](std::string_view statement, const SqlValues& values) {
    Result<std::int64_t> answer = std::int64_t{0};
    const Result<> done = create_.transact(5s, [&](CreateTransaction& own) -> Result<> {
      answer = own.execute(statement, values);
      return answer ? Result<>() : fail(answer.error());
    });
    return !answer && !done && answer.error().code == ErrorCode::kInvalid;
  };
  const char* update = "UPDATE shop_order SET idem_key = ? WHERE amount = ?";
  EXPECT_TRUE(refused(update, {"x"}));
  // PostgreSQL passes over one that no statement asks for.
  EXPECT_TRUE(refused(update, {"x", std::int64_t{7}, "z"}) ||
              GetParam() == std::string("Postgres"));
  EXPECT_TRUE(refused("UPDATE shop_order SET nonsense = 1", {}));
  EXPECT_TRUE(refused("UPDATE shop_order SET amount = 1; DELETE FROM shop_order", {}));
  EXPECT_EQ(orders(), 1);
  // What answers no rows is no reason to end the process.
  EXPECT_THAT(rows("UPDATE shop_order SET amount = 8"), ::testing::IsEmpty());
}

// IDEM-1
TEST_P(CreateOnStore, SwitchedOffItSaysSo) {
  Create off(engine_, {.enabled = false});
  const auto refused = off.run_bytes(request_of("k-1"), [](CreateTransaction&, const NewResource&) {
    return Result<std::string>("");
  });
  EXPECT_THAT(refused.error().message, HasSubstr("create.enabled"));
}

// IDEM-10
TEST_P(CreateOnStore, KeysWhoseTimeIsOverAreForgotten) {
  CreateRequest brief = request_of("k-1");
  brief.ttl = 1s;
  brief.lock_ttl = 500ms;
  const auto first = create(brief);
  ASSERT_TRUE(first) << first.error().message;
  ASSERT_TRUE(create(request_of("k-2")));
  EXPECT_TRUE(eventually([&] { return create_.clean_up().value() == 1; }));
  EXPECT_EQ(keys(), 1);
  const auto anew = create(brief);
  ASSERT_TRUE(anew) << anew.error().message;
  EXPECT_FALSE(anew->replayed);
  EXPECT_NE(anew->public_id, first->public_id);
}

}  // namespace
}  // namespace recourse::tests
