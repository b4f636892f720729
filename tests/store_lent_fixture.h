// A caller beside a store on one database server, in every isolation that callers use.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/ulid_source.h"
#include "store/contract/contract.h"
#include "tests/store_lent_callers.h"

namespace recourse::store {

using contract::claim_request;
using contract::code_of;
using contract::keyed;
using contract::kWithin;
using contract::must;
using contract::outcome_of;
using contract::pending;
using contract::spec_of;
using task::Kind;
using task::Move;
using task::State;
using task::Task;
using task::TaskId;
using task::TaskSpec;

// What others may take while somebody's transaction is open.
inline constexpr Duration kUnhindered = std::chrono::seconds(3);

struct LentCase {
  std::string name;
  std::unique_ptr<LentServer> (*open)();
  std::vector<std::string> begin;
};

// GoogleTest finds it by its name.
// NOLINTNEXTLINE(readability-identifier-naming)
inline void PrintTo(const LentCase& one, std::ostream* out) { *out << one.name; }

class LentSubmit : public testing::TestWithParam<LentCase> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(caller_->run("CREATE TABLE shop_order (id INT PRIMARY KEY)"));
    const NodeInfo node{.incarnation = node_, .name = "test", .kinds = {Kind("mail")}};
    (void)must(store().join(node, kWithin));
  }
  void TearDown() override {
    caller_.reset();
    Counts rows;
    for (const Task& task : all()) ++rows[{task.spec.kind, task.state}];
    EXPECT_EQ(must(reader().counts(kWithin)), rows) << "the counts are not those of the rows";
  }

  Store& store() { return server_->opened().store(); }
  Reader& reader() { return server_->opened().reader(); }

  static void begin(Caller& caller) {
    for (const std::string& statement : GetParam().begin) ASSERT_TRUE(caller.run(statement));
  }
  void begin() { begin(*caller_); }

  TaskId new_id() { return TaskId(ids_.next()); }
  Submission item(TaskSpec spec = spec_of()) { return pending(new_id(), std::move(spec)); }

  Inserted insert_one(const Submission& one) {
    return must(store().insert(std::vector{one}, Novelty::kFresh, kWithin)).items.at(0);
  }
  std::vector<Task> claim(int limit, Duration within = kWithin) {
    const std::vector<Quota> quotas{{.kind = Kind("mail"), .limit = limit}};
    return must(store().claim(claim_request(node_, task::LeaseId(ids_.next()), quotas, limit),
                              within))
        .tasks;
  }
  Applied finish(const Task& task, Duration within = kWithin) {
    const std::vector<Outcome> batch{outcome_of(task, Move::kSucceed, clock_.now())};
    return must(store().apply(batch, within)).at(0);
  }
  std::vector<Task> all(const Filter& filter = {}) {
    std::vector<Task> tasks;
    std::optional<TaskId> after;
    do {
      TaskPage page = must(reader().list(filter, after, kPageRowsMax, kWithin));
      tasks.insert(tasks.end(), page.tasks.begin(), page.tasks.end());
      after = page.next;
    } while (after);
    return tasks;
  }

  std::unique_ptr<LentServer> server_ = GetParam().open();
  std::unique_ptr<Caller> caller_ = server_->new_caller();
  SystemClock clock_;
  UlidSource ids_{clock_, 7};
  const task::Incarnation node_{ids_.next()};
};

inline const auto kLentCases = testing::Values(
    LentCase{"Postgres", lent_postgres, {"BEGIN"}},
    LentCase{"PostgresRepeatableRead", lent_postgres, {"BEGIN ISOLATION LEVEL REPEATABLE READ"}},
    LentCase{"Mariadb", lent_mariadb, {"START TRANSACTION"}},
    LentCase{"MariadbReadCommitted",
             lent_mariadb,
             {"SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "START TRANSACTION"}},
    LentCase{"MariadbWithoutAutocommit", lent_mariadb, {"SET autocommit = 0"}});

inline std::string lent_case_name(const testing::TestParamInfo<LentCase>& one) {
  return one.param.name;
}

}  // namespace recourse::store
