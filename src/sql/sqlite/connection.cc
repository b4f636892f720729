#include "sql/sqlite/connection.h"

#include <sqlite3.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>

#include "sql/sqlite/errors.h"

namespace recourse::sql::sqlite {
namespace {

struct CloseHandle {
  void operator()(sqlite3* handle) const noexcept { sqlite3_close_v2(handle); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};
struct TextHash {
  using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};
using Handle = std::unique_ptr<sqlite3, CloseHandle>;
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

class StatementRow final : public Row {
 public:
  explicit StatementRow(sqlite3_stmt* statement) : statement_(statement) {}

  [[nodiscard]] std::size_t columns() const override {
    return static_cast<std::size_t>(sqlite3_column_count(statement_));
  }
  [[nodiscard]] Cell cell(std::size_t column) const override {
    switch (sqlite3_column_type(statement_, static_cast<int>(column))) {
      case SQLITE_NULL: return Cell::kNull;
      case SQLITE_INTEGER: return Cell::kInteger;
      case SQLITE_BLOB: return Cell::kBytes;
      default: return Cell::kText;
    }
  }
  [[nodiscard]] bool is_null(std::size_t column) const override {
    return sqlite3_column_type(statement_, static_cast<int>(column)) == SQLITE_NULL;
  }
  [[nodiscard]] std::int64_t integer(std::size_t column) const override {
    return sqlite3_column_int64(statement_, static_cast<int>(column));
  }
  [[nodiscard]] std::string_view bytes(std::size_t column) const override {
    const int index = static_cast<int>(column);
    const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, index));
    return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, index))};
  }

 private:
  sqlite3_stmt* statement_;
};

// Ready for the next use whatever happened; also ends a read.
class ResetAtEnd {
 public:
  explicit ResetAtEnd(sqlite3_stmt* statement) : statement_(statement) {}
  ~ResetAtEnd() {
    sqlite3_reset(statement_);
    // They point to what the caller is about to give up.
    sqlite3_clear_bindings(statement_);
  }
  ResetAtEnd(const ResetAtEnd&) = delete;
  ResetAtEnd& operator=(const ResetAtEnd&) = delete;

 private:
  sqlite3_stmt* statement_;
};

int bind_one(sqlite3_stmt* statement, int index, const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return sqlite3_bind_int64(statement, index, *number);
  }
  // A null pointer would bind NULL instead of something empty.
  if (const auto* text = std::get_if<Text>(&value)) {
    return sqlite3_bind_text64(statement, index, text->value.empty() ? "" : text->value.data(),
                               text->value.size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  if (const auto* bytes = std::get_if<Bytes>(&value)) {
    return sqlite3_bind_blob64(statement, index, bytes->value.empty() ? "" : bytes->value.data(),
                               bytes->value.size(), SQLITE_STATIC);
  }
  return sqlite3_bind_null(statement, index);
}

class SqliteConnection final : public Connection {
 public:
  explicit SqliteConnection(Handle handle) : handle_(std::move(handle)) {
    // A thousand steps of the virtual machine are some ten microseconds.
    sqlite3_progress_handler(handle_.get(), 1'000, &SqliteConnection::is_late, this);
  }

  void set_deadline(Deadline deadline) override { deadline_ = deadline; }
  // One writer: there is nobody to wait for.
  Result<> set_lock_patience(Duration) override { return {}; }

  // Immediate: a transaction that starts by reading could not become a writer later.
  Result<> begin() override {
    Result<> begun = step_through("BEGIN IMMEDIATE");
    in_transaction_ = begun.has_value();
    return begun;
  }

  Result<> commit() override {
    const bool was_lost = is_lost();
    Result<> done = step_through("COMMIT");
    const bool flush_failed =
        !was_lost && !done && (sqlite3_errcode(handle_.get()) & 0xFF) == SQLITE_IOERR;
    rollback();
    if (done) return done;
    if (!flush_failed) return done;
    return fail(ErrorCode::kInDoubt, done.error().message);
  }

  void rollback() override {
    in_transaction_ = false;
    if (sqlite3_get_autocommit(handle_.get()) != 0) return;
    // A deadline must not keep the file locked.
    deadline_ = Deadline::max();
    (void)sqlite3_exec(handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }

  Result<std::int64_t> execute(std::string_view statement, std::span<const Value> values) override {
    return execute_many(statement, values.size(), values);
  }

  Result<std::int64_t> execute_many(std::string_view statement, std::size_t columns,
                                    std::span<const Value> values) override {
    const Result<sqlite3_stmt*> prepared = prepare(statement);
    if (!prepared) return fail(prepared.error());
    std::int64_t changed = 0;
    do {
      const ResetAtEnd reset(*prepared);
      if (Result<> bound = bind(*prepared, values.first(columns)); !bound) {
        return fail(bound.error());
      }
      int code = SQLITE_ROW;
      while (code == SQLITE_ROW) code = sqlite3_step(*prepared);
      if (code != SQLITE_DONE) return fail(translate(handle_.get(), code));
      changed += sqlite3_changes64(handle_.get());
      values = values.subspan(columns);
    } while (!values.empty());
    return changed;
  }

  Result<> execute_later(std::string_view statement, std::size_t columns,
                         std::span<const Value> values) override {
    const auto done = execute_many(statement, columns, values);
    return done ? Result<>{} : fail(done.error());
  }

  Result<> query(std::string_view statement, std::span<const Value> values, OnRow on_row) override {
    const Result<sqlite3_stmt*> prepared = prepare(statement);
    if (!prepared) return fail(prepared.error());
    const ResetAtEnd reset(*prepared);
    if (Result<> bound = bind(*prepared, values); !bound) return bound;
    int code = sqlite3_step(*prepared);
    for (; code == SQLITE_ROW; code = sqlite3_step(*prepared)) on_row(StatementRow(*prepared));
    if (code != SQLITE_DONE) return fail(translate(handle_.get(), code));
    return {};
  }

  Result<> run(std::string_view statement) override {
    const int code =
        sqlite3_exec(handle_.get(), std::string(statement).c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return fail(translate(handle_.get(), code));
    return {};
  }

  [[nodiscard]] bool usable() const override { return true; }

 private:
  static constexpr std::size_t kStatementsMax = 1'000;

  static int is_late(void* self) {
    return std::chrono::steady_clock::now() > static_cast<SqliteConnection*>(self)->deadline_ ? 1
                                                                                              : 0;
  }

  Result<> step_through(std::string_view statement) {
    const auto done = execute(statement, {});
    return done ? Result<>{} : fail(done.error());
  }

  // SQLite has rolled it back by itself: a statement that writes was cut off, or the disk is full.
  [[nodiscard]] bool is_lost() const {
    return in_transaction_ && sqlite3_get_autocommit(handle_.get()) != 0;
  }

  Result<sqlite3_stmt*> prepare(std::string_view text) {
    // What came now would be committed at once, without what came before.
    if (is_lost()) {
      return fail(ErrorCode::kUnavailable,
                  "SQLite: the transaction was rolled back when a statement of it was cut off");
    }
    const auto found = statements_.find(text);
    if (found != statements_.end()) return found->second.get();
    // Those of users may be of any number.
    if (statements_.size() >= kStatementsMax) statements_.clear();
    sqlite3_stmt* raw = nullptr;
    const char* rest = nullptr;
    const int code = sqlite3_prepare_v3(handle_.get(), text.data(), static_cast<int>(text.size()),
                                        SQLITE_PREPARE_PERSISTENT, &raw, &rest);
    Statement prepared(raw);
    if (code != SQLITE_OK) return fail(translate(handle_.get(), code));
    const std::string_view tail(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
    if (raw == nullptr || tail.find_first_not_of(" \t\r\n;") != std::string_view::npos) {
      return fail(ErrorCode::kInvalid, "SQLite: give one statement at a time");
    }
    return statements_.emplace(text, std::move(prepared)).first->second.get();
  }

  Result<> bind(sqlite3_stmt* statement, std::span<const Value> values) {
    if (const int wanted = sqlite3_bind_parameter_count(statement);
        static_cast<std::size_t>(wanted) != values.size()) {
      return fail(ErrorCode::kInvalid, "SQLite: the statement has " + std::to_string(wanted) +
                                           " values, and was given " +
                                           std::to_string(values.size()));
    }
    int index = 0;
    for (const Value& value : values) {
      const int code = bind_one(statement, ++index, value);
      if (code != SQLITE_OK) return fail(translate(handle_.get(), code));
    }
    return {};
  }

  Handle handle_;
  Deadline deadline_ = Deadline::max();
  bool in_transaction_ = false;
  // After the handle: goes first.
  std::unordered_map<std::string, Statement, TextHash, std::equal_to<>> statements_;
};

const char* settings_of(Access access) {
  switch (access) {
    case Access::kWrite:
      // A small cache: the system keeps the file's pages too, and an engine that has run 100,000
      // tasks measured no slower than with 64 MiB, which it had filled. The log is cut back after a
      // checkpoint, so that one long reader does not leave a giant.
      return "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY;"
             "PRAGMA cache_size = -8192; PRAGMA journal_size_limit = 67108864;";
    case Access::kRead:
      return "PRAGMA query_only = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384;";
    // Reads the file's head: one that is no database is told here.
    case Access::kForeign: return "PRAGMA temp_store = MEMORY; PRAGMA schema_version;";
  }
  std::abort();
}

Result<> configure(sqlite3* handle, Access access) {
  // An unknown name in double quotes must be an error, not a text.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
  sqlite3_extended_result_codes(handle, 1);
  // Somebody else's file is locked for as long as its owner likes; whoever meets that comes again.
  sqlite3_busy_timeout(handle, access == Access::kForeign ? 1'000 : 5'000);
  const int code = sqlite3_exec(handle, settings_of(access), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return fail(translate(handle, code));
  return {};
}

}  // namespace

Result<std::unique_ptr<Connection>> open(const std::string& path, Access access) {
  sqlite3* raw = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
                    (access == Access::kWrite ? SQLITE_OPEN_CREATE : 0);
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  Handle handle(raw);
  if (code != SQLITE_OK) {
    const Error why = translate(handle.get(), code);
    return fail(why.code, "cannot open " + path + ": " + why.message);
  }
  if (Result<> configured = configure(handle.get(), access); !configured) {
    return fail(configured.error().code, "cannot open " + path + ": " + configured.error().message);
  }
  return std::unique_ptr<Connection>(std::make_unique<SqliteConnection>(std::move(handle)));
}

}  // namespace recourse::sql::sqlite
