#include "store/sqlite/guest.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "store/create_rules.h"
#include "store/insert_run.h"
#include "store/relational/connection_guest.h"

namespace recourse::store::sqlite {
namespace {

// Everybody waits for the writer meanwhile, the engine included; longer than this it cannot.
constexpr Duration kGuestMax = std::chrono::seconds(10);

Result<> run(sql::Connection& connection, std::string_view statement) {
  const auto done = connection.execute(statement, {});
  return done ? Result<>{} : fail(done.error());
}

// The work under a savepoint: what fails is undone, and its failure is written in its place.
class OneCreate {
 public:
  OneCreate(SqliteGuest& guest, const CreateAsk& ask, CreateWork work)
      : guest_(guest), ask_(ask), work_(work) {}

  // Fails where nothing may be committed.
  Result<> operator()() {
    Result<> step = take();
    if (!step || taking_.refused || taking_.answer.how != Acquisition::kAcquired) return step;
    return create();
  }

  // The work itself; its error counts, whatever came after it.
  [[nodiscard]] bool has_failed() const { return thrown_ != nullptr || failure_.has_value(); }

  Result<Acquired> answer() {
    if (thrown_) std::rethrow_exception(thrown_);
    if (failure_) return fail(*failure_);
    if (taking_.refused) return fail(*taking_.refused);
    return std::move(taking_.answer);
  }

 private:
  Result<> take() {
    return guest_.slot().use([&](sql::Connection& connection, Transaction& transaction) {
      auto taken = take_creation(transaction, ask_);
      if (!taken) return Result<>(fail(taken.error()));
      taking_ = *std::move(taken);
      if (taking_.refused || taking_.answer.how != Acquisition::kAcquired) return Result<>();
      return run(connection, "SAVEPOINT work");
    });
  }

  Result<> create() {
    Creation& creation = taking_.answer.creation;
    Result<std::string> value;
    try {
      value = work_(guest_, creation);
    } catch (const std::exception& thrown) {
      thrown_ = std::current_exception();
      return undo(thrown.what());
    } catch (...) {
      thrown_ = std::current_exception();
      return undo("something that is no std::exception was thrown");
    }
    if (!value) {
      failure_ = value.error();
      return undo(value.error().message);
    }
    if (Result<> marked = guest_.mark_created(hold_of(creation), *value, Mark::kNow); !marked)
      return marked;
    creation = succeeded(std::move(creation), *value);
    return release();
  }

  Result<> release() {
    return guest_.slot().use(
        [](sql::Connection& connection, Transaction&) { return run(connection, "RELEASE work"); });
  }

  Result<> undo(std::string_view error) {
    const std::string kept = kept_error(error);
    return guest_.slot().use([&](sql::Connection& connection, Transaction& transaction) {
      if (Result<> back = run(connection, "ROLLBACK TO work"); !back) return back;
      if (Result<> released = run(connection, "RELEASE work"); !released) return released;
      const Result<bool> marked = transaction.end_creation(
          hold_of(taking_.answer.creation), {.state = CreateState::kFailed, .error = kept});
      return marked ? Result<>() : fail(marked.error());
    });
  }

  SqliteGuest& guest_;
  const CreateAsk& ask_;
  CreateWork work_;
  Taking taking_;
  std::optional<Error> failure_;
  std::exception_ptr thrown_;
};

}  // namespace

Result<std::int64_t> SqliteGuest::execute(std::string_view statement, const SqlValues& values) {
  std::int64_t rows = 0;
  const Result<> ran = slot_.use([&](sql::Connection& connection, Transaction&) {
    const auto executed = relational::execute_for_user(connection, statement, values);
    if (!executed) return Result<>(fail(executed.error()));
    rows = *executed;
    return Result<>();
  });
  if (!ran) return fail(ran.error());
  return rows;
}

Result<std::vector<SqlRow>> SqliteGuest::query(std::string_view statement,
                                               const SqlValues& values) {
  std::vector<SqlRow> rows;
  const Result<> ran = slot_.use([&](sql::Connection& connection, Transaction&) {
    auto found = relational::query_for_user(connection, statement, values);
    if (!found) return Result<>(fail(found.error()));
    rows = *std::move(found);
    return Result<>();
  });
  if (!ran) return fail(ran.error());
  return rows;
}

Result<InsertAnswer> SqliteGuest::submit(std::span<const Submission> batch) {
  InsertAnswer answer;
  const Result<> ran = slot_.use([&](sql::Connection& connection, Transaction& transaction) {
    if (Result<> set = run(connection, "SAVEPOINT submit"); !set) return set;
    Result<InsertAnswer> inserted = insert_within(transaction, batch);
    if (!inserted) {
      if (!run(connection, "ROLLBACK TO submit")) return Result<>(fail(inserted.error()));
    }
    if (Result<> released = run(connection, "RELEASE submit"); !released) return released;
    if (!inserted) return Result<>(fail(inserted.error()));
    answer = *std::move(inserted);
    return Result<>();
  });
  if (!ran) return fail(ran.error());
  return answer;
}

Result<> SqliteGuest::mark_created(const CreateHold& hold, std::string_view value, Mark) {
  const KeptValue kept = kept_value(value);
  return slot_.use([&](sql::Connection&, Transaction& transaction) {
    const Result<bool> marked = transaction.end_creation(
        hold, {.state = CreateState::kSucceeded, .value = kept.text, .is_cut = kept.is_cut});
    if (!marked) return Result<>(fail(marked.error()));
    return *marked ? Result<>() : Result<>(fail(hold_is_over()));
  });
}

Result<> SqliteCreates::transact(Duration within, FunctionRef<Result<>(Guest&)> work) {
  return writer_.run_guest(std::min(within, kGuestMax), [&](GuestSlot& slot) {
    SqliteGuest guest(slot);
    return work(guest);
  });
}

Result<Acquired> SqliteCreates::create(const CreateAsk& ask, Duration, CreateWork work) {
  if (Result<> valid = check(ask); !valid) return fail(valid.error());
  std::optional<OneCreate> one;
  std::optional<SqliteGuest> guest;
  const Result<> ran = writer_.run_guest(std::min(ask.lock_ttl, kGuestMax), [&](GuestSlot& slot) {
    guest.emplace(slot);
    one.emplace(*guest, ask, work);
    return (*one)();
  });
  if (!ran && !(one && one->has_failed())) return fail(ran.error());
  return one->answer();
}

Result<Acquired> SqliteCreates::create_within(Guest& guest, const CreateAsk& ask, Duration,
                                              CreateWork work) {
  if (Result<> valid = check(ask); !valid) return fail(valid.error());
  auto* mine = dynamic_cast<SqliteGuest*>(&guest);
  if (mine == nullptr) {
    return fail(ErrorCode::kInvalid, "this transaction is not one of the store's own");
  }
  OneCreate one(*mine, ask, work);
  if (Result<> ran = one(); !ran && !one.has_failed()) return fail(ran.error());
  return one.answer();
}

}  // namespace recourse::store::sqlite
