#include "store/relational/lent.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "store/insert_run.h"
#include "store/relational/stripe.h"

namespace recourse::store::relational {
namespace {

using task::TaskId;

// A key may be given back between two looks at it; not time and again.
constexpr int kKeyTriesMax = 3;

class LentTransaction final : public RelationalTransaction {
 public:
  LentTransaction(const Seat& seat, const LentWords& words)
      : RelationalTransaction(seat, Care::kCareful), words_(words) {}

  Result<std::vector<TaskId>> take_keys(std::span<const KeyHolder> wanted, KeyPatience) override {
    const auto holders = holders_of(wanted);
    if (!holders) return fail(holders.error());
    std::vector<TaskId> answer;
    for (const KeyHolder& key : wanted) {
      const std::string account = key_of(key.account);
      const auto known = holders->find(account);
      const Result<TaskId> holder =
          known == holders->end() ? take_key(account, key.task) : Result<TaskId>(known->second);
      if (!holder) return fail(holder.error());
      answer.push_back(*holder);
    }
    return answer;
  }

  Result<std::vector<task::Task>> lock(std::span<const TaskId> ids) override {
    Values values;
    fill_list(values, ids, [](Values& list, const TaskId& id) { list.id(id.value); });
    return tasks_of("SELECT " + task_columns(false) + " FROM " +
                        std::string(seat().dialect.task_by_id) + " WHERE id IN " +
                        list_of(ids.size()),
                    values);
  }

 private:
  using Holders = std::map<std::string, TaskId, std::less<>>;

  Result<Holders> holders_of(std::span<const KeyHolder> wanted) {
    Values accounts;
    fill_list(accounts, wanted,
              [](Values& values, const KeyHolder& key) { values.kept_bytes(key_of(key.account)); });
    Holders holders;
    const Result<> asked = connection().query(
        "SELECT account, task_id FROM recourse_unique WHERE account IN " + list_of(wanted.size()),
        accounts.view(), [&](const sql::Row& row) {
          holders.emplace(row.bytes(0), TaskId(read_ulid(row.bytes(1))));
        });
    if (!asked) return fail(asked.error());
    return holders;
  }

  // Who has it afterwards.
  Result<TaskId> take_key(const std::string& account, TaskId task) {
    Values key;
    key.bytes(account);
    Values row;
    row.bytes(account).id(task.value);
    for (int i = 0; i < kKeyTriesMax; ++i) {
      const auto taken = connection().execute(words_.take_key, row.view());
      if (!taken) return fail(taken.error());
      if (*taken == 1) return task;
      std::optional<TaskId> holder;
      const Result<> asked = connection().query(
          words_.find_holder, key.view(),
          [&](const sql::Row& found) { holder = TaskId(read_ulid(found.bytes(0))); });
      if (!asked) return fail(asked.error());
      if (holder) return *holder;
    }
    return fail(ErrorCode::kConflict, "a unique key keeps changing hands: try again");
  }

  const LentWords& words_;
};

Result<> check_schema(sql::Connection& lent, std::int64_t known) {
  std::int64_t found = 0;
  const Result<> asked = lent.query("SELECT value FROM recourse_meta WHERE name = 'schema'", {},
                                    [&](const sql::Row& row) { found = row.integer(0); });
  if (!asked || found == known) return asked;
  return fail(ErrorCode::kInvalid,
              fmt::format("the lent connection's database has schema {}, and this program writes "
                          "schema {}: let both be of one version",
                          found, known));
}

Error explained(Error error, bool transaction_lives) {
  if (error.code == ErrorCode::kExhausted) {
    error.code = ErrorCode::kUnavailable;
    error.message =
        "another transaction has taken this unique key and is still open: " + error.message;
  }
  if (!transaction_lives) {
    error.message += "; the caller's whole transaction is lost with it: begin it again";
  }
  return error;
}

}  // namespace

Result<InsertAnswer> submit_within(sql::Connection& lent, const Dialect& dialect,
                                   const LentWords& words, std::int64_t schema,
                                   std::span<const Submission> batch) {
  Result<> step = lent.begin();
  if (step) step = check_schema(lent, schema);
  if (step) {
    LentTransaction transaction({.connection = lent, .dialect = dialect, .stripe = random_stripe()},
                                words);
    Result<InsertAnswer> answer = insert_within(transaction, batch);
    step = answer ? lent.commit() : fail(answer.error());
    if (step) return answer;
  }
  lent.rollback();
  return fail(explained(std::move(step).error(), lent.usable()));
}

}  // namespace recourse::store::relational
