#include "store/relational/connection_guest.h"

#include <utility>

#include "store/create_rules.h"
#include "store/relational/creating.h"

namespace recourse::store::relational {
namespace {

std::vector<sql::Value> bound(const SqlValues& values) {
  std::vector<sql::Value> views;
  views.reserve(values.size());
  for (const SqlValue& value : values) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      views.emplace_back(*number);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      views.emplace_back(sql::Text{*text});
    } else if (const auto* bytes = std::get_if<SqlBytes>(&value)) {
      views.emplace_back(sql::Bytes{bytes->value});
    } else {
      views.emplace_back(sql::Null{});
    }
  }
  return views;
}

SqlRow read_row(const sql::Row& row) {
  SqlRow cells;
  cells.reserve(row.columns());
  for (std::size_t i = 0; i < row.columns(); ++i) {
    switch (row.cell(i)) {
      case sql::Row::Cell::kNull: cells.emplace_back(); break;
      case sql::Row::Cell::kInteger: cells.emplace_back(row.integer(i)); break;
      case sql::Row::Cell::kText: cells.emplace_back(std::string(row.bytes(i))); break;
      case sql::Row::Cell::kBytes: cells.emplace_back(SqlBytes{std::string(row.bytes(i))}); break;
    }
  }
  return cells;
}

// The same connection with savepoints for transactions: what fails inside leaves the rest as it
// was.
class Savepoints final : public sql::Connection {
 public:
  explicit Savepoints(sql::Connection& connection) : connection_(connection) {}

  void set_deadline(sql::Deadline deadline) override { connection_.set_deadline(deadline); }
  Result<> set_lock_patience(Duration patience) override {
    return connection_.set_lock_patience(patience);
  }
  Result<> begin() override { return run("SAVEPOINT recourse_guest"); }
  Result<> commit() override { return run("RELEASE SAVEPOINT recourse_guest"); }
  void rollback() override {
    if (run("ROLLBACK TO SAVEPOINT recourse_guest")) (void)commit();
  }
  Result<std::int64_t> execute(std::string_view statement,
                               std::span<const sql::Value> values) override {
    return connection_.execute(statement, values);
  }
  Result<std::int64_t> execute_many(std::string_view statement, std::size_t columns,
                                    std::span<const sql::Value> values) override {
    return connection_.execute_many(statement, columns, values);
  }
  Result<> execute_later(std::string_view statement, std::size_t columns,
                         std::span<const sql::Value> values) override {
    return connection_.execute_later(statement, columns, values);
  }
  Result<> query(std::string_view statement, std::span<const sql::Value> values,
                 sql::OnRow on_row) override {
    return connection_.query(statement, values, on_row);
  }
  Result<> run(std::string_view statement) override {
    const auto done = connection_.execute(statement, {});
    return done ? Result<>{} : fail(done.error());
  }
  [[nodiscard]] bool usable() const override { return connection_.usable(); }

 private:
  sql::Connection& connection_;
};

}  // namespace

Result<std::int64_t> execute_for_user(sql::Connection& connection, std::string_view statement,
                                      const SqlValues& values) {
  return connection.execute(statement, bound(values));
}

Result<std::vector<SqlRow>> query_for_user(sql::Connection& connection, std::string_view statement,
                                           const SqlValues& values) {
  std::vector<SqlRow> rows;
  const Result<> asked = connection.query(
      statement, bound(values), [&](const sql::Row& row) { rows.push_back(read_row(row)); });
  if (!asked) return fail(asked.error());
  return rows;
}

Result<std::int64_t> ConnectionGuest::execute(std::string_view statement, const SqlValues& values) {
  if (Result<> here = ready(); !here) return fail(here.error());
  return execute_for_user(connection_, statement, values);
}

Result<std::vector<SqlRow>> ConnectionGuest::query(std::string_view statement,
                                                   const SqlValues& values) {
  if (Result<> here = ready(); !here) return fail(here.error());
  return query_for_user(connection_, statement, values);
}

Result<InsertAnswer> ConnectionGuest::submit(std::span<const Submission> batch) {
  if (Result<> here = ready(); !here) return fail(here.error());
  Savepoints savepoints(connection_);
  return submit_within(savepoints, words_.dialect, words_.keys, words_.schema, batch);
}

Result<> ConnectionGuest::set_savepoint() {
  if (Result<> here = ready(); !here) return here;
  const auto set = connection_.execute("SAVEPOINT recourse_create", {});
  return set ? Result<>() : fail(set.error());
}

Result<> ConnectionGuest::undo_to_savepoint() {
  if (Result<> here = ready(); !here) return here;
  const auto back = connection_.execute("ROLLBACK TO SAVEPOINT recourse_create", {});
  return back ? Result<>() : fail(back.error());
}

Result<> ConnectionGuest::mark_created(const CreateHold& hold, std::string_view value, Mark mark) {
  if (Result<> here = ready(); !here) return here;
  const KeptValue kept = kept_value(value);
  const CreateEnd end{.state = CreateState::kSucceeded, .value = kept.text, .is_cut = kept.is_cut};
  return mark == Mark::kNow ? mark_now(hold, end) : mark_with_commit(hold, end);
}

Result<> ConnectionGuest::mark_now(const CreateHold& hold, const CreateEnd& end) {
  Values values;
  add_mark(values, hold, end);
  const auto marked = connection_.execute(kMarkCreation, values.view());
  if (!marked) return fail(marked.error());
  if (*marked == 1) return {};
  return fail(hold_is_over());
}

}  // namespace recourse::store::relational
