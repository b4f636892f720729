// Submitting inside a caller's own transaction on a database server: the task exists only if that
// commits.
#include "tests/store_lent_fixture.h"

namespace recourse::store {
namespace {

using testing::HasSubstr;

TEST_P(LentSubmit, ExistsOnceTheCallerCommits) {
  TaskSpec spec = keyed("order-7");
  spec.search_keys = {{"order", "7"}};
  spec.payload = std::string("pay\0it", 6);
  spec.headers = {{"city", "Łódź"}};
  const std::vector<Submission> batch{item(spec), item(), item()};

  begin();
  ASSERT_TRUE(caller_->run("INSERT INTO shop_order VALUES (7)"));
  const InsertAnswer answer = must(caller_->submit(batch));

  for (const Inserted& one : answer.items) EXPECT_EQ(one.result, Insertion::kInserted);
  EXPECT_EQ(answer.items[1].task, batch[1].id);
  EXPECT_THAT(all(), testing::IsEmpty());
  EXPECT_THAT(claim(10), testing::IsEmpty());

  ASSERT_TRUE(caller_->run("COMMIT"));
  EXPECT_EQ(all().size(), 3U);
  Filter by_key;
  by_key.search_key = {"order", "7"};
  ASSERT_EQ(all(by_key).size(), 1U);
  EXPECT_EQ(all(by_key)[0].spec, spec);
  EXPECT_EQ(must(reader().counts(kWithin)), (Counts{{{Kind("mail"), State::kPending}, 3}}));
  EXPECT_EQ(claim(10).size(), 3U);
}

TEST_P(LentSubmit, LeavesNothingWhenTheCallerRollsBack) {
  TaskSpec spec = keyed("order-7");
  spec.search_keys = {{"order", "7"}};
  begin();
  (void)must(caller_->submit(std::vector{item(spec), item()}));
  ASSERT_TRUE(caller_->run("ROLLBACK"));

  for (const char* table : {"task", "unique", "search", "counter"}) {
    EXPECT_EQ(caller_->number(std::string("SELECT COUNT(*) FROM recourse_") + table), 0) << table;
  }
  EXPECT_EQ(insert_one(item(keyed("order-7"))).result, Insertion::kInserted);
}

TEST_P(LentSubmit, KeepsTheCallersTransactionUsableAfterAnError) {
  TaskSpec spec = keyed("order-7");
  spec.search_keys = {{"order", "7"}};
  ASSERT_TRUE(caller_->run("ALTER TABLE recourse_search RENAME TO gone_search"));
  begin();
  ASSERT_TRUE(caller_->run("INSERT INTO shop_order VALUES (7)"));

  const auto refused = caller_->submit(std::vector{item(spec)});
  EXPECT_EQ(code_of(refused), ErrorCode::kInvalid);
  EXPECT_THAT(refused.error().message, HasSubstr("schema"));
  Submission born = item();
  born.claim = BirthClaim{.owner = node_, .lease = task::LeaseId(ids_.next())};
  EXPECT_EQ(code_of(caller_->submit(std::vector{born})), ErrorCode::kInvalid);
  EXPECT_EQ(must(caller_->submit(std::vector{item()})).items[0].result, Insertion::kInserted);

  ASSERT_TRUE(caller_->run("COMMIT"));
  ASSERT_TRUE(caller_->run("ALTER TABLE gone_search RENAME TO recourse_search"));
  EXPECT_EQ(caller_->number("SELECT COUNT(*) FROM shop_order"), 1);
  EXPECT_EQ(caller_->number("SELECT COUNT(*) FROM recourse_unique"), 0);
  EXPECT_EQ(all().size(), 1U);
}

TEST_P(LentSubmit, TellsWhoHasTheKeyAndWhatIsThereAlready) {
  const Submission first = item(keyed("order-7"));
  const Submission done = item();
  (void)insert_one(first);
  (void)insert_one(done);
  for (const Task& task : claim(10)) {
    if (task.id == done.id) (void)finish(task);
  }

  begin();
  const InsertAnswer answer =
      must(caller_->submit(std::vector{item(keyed("order-7")), first, done, item()}));
  ASSERT_TRUE(caller_->run("COMMIT"));

  EXPECT_EQ(answer.items[0].result, Insertion::kKeyTaken);
  EXPECT_EQ(answer.items[0].task, first.id);
  EXPECT_EQ(answer.items[1].result, Insertion::kRepeated);
  EXPECT_EQ(answer.items[2].result, Insertion::kRepeated);
  EXPECT_EQ(answer.items[3].result, Insertion::kInserted);
  EXPECT_EQ(all().size(), 3U);
}

TEST_P(LentSubmit, IsRefusedWhereTheConnectionCannotBeUsed) {
  const std::vector<Submission> batch{item()};
  const auto error = [&](Caller& caller) {
    const auto answer = caller.submit(batch);
    return answer ? Error{ErrorCode::kCorrupt, "it was taken"} : answer.error();
  };
  const Error outside = error(*caller_);
  EXPECT_EQ(outside.code, ErrorCode::kInvalid);
  EXPECT_THAT(outside.message, HasSubstr("not inside a transaction"));

  const std::unique_ptr<Caller> foreign = server_->foreign_caller();
  begin(*foreign);
  const Error encoding = error(*foreign);
  EXPECT_EQ(encoding.code, ErrorCode::kInvalid);
  EXPECT_THAT(encoding.message, testing::AnyOf(HasSubstr("UTF8"), HasSubstr("utf8mb4")));

  const std::unique_ptr<Caller> lost = server_->lost_caller();
  begin(*lost);
  const Error no_schema = error(*lost);
  EXPECT_EQ(no_schema.code, ErrorCode::kInvalid);
  EXPECT_THAT(no_schema.message, HasSubstr("schema"));
  EXPECT_TRUE(lost->run("COMMIT"));

  ASSERT_TRUE(caller_->run("UPDATE recourse_meta SET value = 999 WHERE name = 'schema'"));
  begin();
  const Error newer = error(*caller_);
  EXPECT_EQ(newer.code, ErrorCode::kInvalid);
  EXPECT_THAT(newer.message, HasSubstr("schema 999"));
  ASSERT_TRUE(caller_->run("COMMIT"));
  EXPECT_THAT(all(), testing::IsEmpty());
}

TEST_P(LentSubmit, IsCountedBeforeAndAfterItsCountsAreFolded) {
  // Together more rows of counts than stay unfolded.
  constexpr int kTransactions = 11;
  constexpr int kKinds = 100;
  Counts expected;
  for (int i = 0; i < kTransactions; ++i) {
    std::vector<Submission> batch;
    for (int kind = 0; kind < kKinds; ++kind) {
      batch.push_back(item(spec_of("kind-" + std::to_string(kind))));
      ++expected[{batch.back().spec.kind, State::kPending}];
    }
    begin();
    (void)must(caller_->submit(batch));
    ASSERT_TRUE(caller_->run("COMMIT"));
  }
  EXPECT_EQ(must(reader().counts(kWithin)), expected);
  const std::int64_t before = caller_->number("SELECT COUNT(*) FROM recourse_counter");
  ASSERT_TRUE(caller_->run("COMMIT"));

  (void)must(store().adopt("test", kWithin));

  EXPECT_LT(caller_->number("SELECT COUNT(*) FROM recourse_counter"), before);
  EXPECT_EQ(must(reader().counts(kWithin)), expected);
}

INSTANTIATE_TEST_SUITE_P(Servers, LentSubmit, kLentCases, lent_case_name);

}  // namespace
}  // namespace recourse::store
