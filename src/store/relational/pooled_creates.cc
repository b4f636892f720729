#include "store/relational/pooled_creates.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "store/countdown.h"
#include "store/create_rules.h"

namespace recourse::store::relational {
namespace {

using std::chrono::steady_clock;

// Of marking a failure, and of looking at what became of a lost commit.
constexpr Duration kAftermath = std::chrono::seconds(5);
// A connection that has stood idle for longer is tried before it is given to a guest.
constexpr Duration kRestMax = std::chrono::seconds(1);

}  // namespace

Result<Acquired> PooledCreates::create(const CreateAsk& ask, Duration within, CreateWork work) {
  // Counted from before the key was taken: by this clock the lock never lasts longer than there.
  const auto begun = steady_clock::now();
  auto taken = take(ask, within);
  if (!taken || taken->how != Acquisition::kAcquired) return taken;
  const auto until = begun + ask.lock_ttl;
  Result<sql::Pool::Loan> loan = borrow(until);
  if (loan) return create_held(*loan, taken->creation, until, work);
  (void)give_up(hold_of(taken->creation), loan.error().message, kAftermath);
  return fail(loan.error());
}

Result<sql::Pool::Loan> PooledCreates::borrow(Cutter::Instant until, Cutter::Instant free_by) {
  while (true) {
    Result<sql::Pool::Loan> loan = guests_.borrow(until, free_by);
    if (!loan || loan->rested() < kRestMax) return loan;
    // A server may have closed it meanwhile, and the work would be the first to notice.
    loan->connection().set_deadline(until);
    if (loan->connection().query("SELECT 1", {}, [](const sql::Row&) {})) return loan;
    loan->discard();
  }
}

Result<> PooledCreates::with_guest(sql::Pool::Loan& loan, Cutter::Instant until,
                                   FunctionRef<Result<>(sql::Connection&)> work) {
  sql::Connection& connection = loan.connection();
  connection.set_deadline(until);
  const auto left = std::chrono::duration_cast<Duration>(until - steady_clock::now());
  // Whole seconds, so that it is sent once and not for every call.
  Result<> step = connection.set_idle_limit(std::chrono::ceil<std::chrono::seconds>(left));
  if (step) step = connection.begin();
  const auto end = [&] {
    connection.rollback();
    // By then its socket may have been shut down.
    if (steady_clock::now() >= until) loan.discard();
  };
  try {
    const Cutter::Watch watch(cutter_, connection.socket(), until);
    if (step) step = work(connection);
  } catch (...) {
    end();
    throw;
  }
  end();
  return step;
}

Result<> PooledCreates::transact(Duration within, FunctionRef<Result<>(Guest&)> work) {
  const Cutter::Instant until = deadline_of(within);
  Result<sql::Pool::Loan> loan = borrow(until);
  if (!loan) return fail(loan.error());
  return with_guest(*loan, until, [&](sql::Connection& connection) {
    const std::unique_ptr<Guest> guest = host(connection);
    Result<> step = work(*guest);
    if (step) step = guest->settle();
    return step ? connection.commit() : step;
  });
}

Result<Acquired> PooledCreates::create_held(sql::Pool::Loan& loan, const Creation& creation,
                                            Cutter::Instant until, CreateWork work) {
  std::string value;
  // Who has failed has said so already, where the work was called.
  bool was_called = false;
  const Result<> done = with_guest(loan, until, [&](sql::Connection& connection) -> Result<> {
    was_called = true;
    Result<std::string> made = run_work(connection, creation, work);
    if (!made) return fail(made.error());
    value = *std::move(made);
    return {};
  });
  if (done) return Acquired{Acquisition::kAcquired, succeeded(creation, value)};
  if (done.error().code == ErrorCode::kInDoubt) return find_out(creation, done.error());
  if (!was_called) (void)give_up(hold_of(creation), done.error().message, kAftermath);
  return fail(done.error());
}

Result<std::string> PooledCreates::run_work(sql::Connection& connection, const Creation& creation,
                                            CreateWork work) {
  const std::unique_ptr<Guest> guest = host(connection);
  Result<std::string> value = run_held(creation, *guest, work, [&] {
    connection.rollback();
    return Result<>();
  });
  if (!value) {
    // Of the work's own: it is no doubt about a commit.
    if (value.error().code == ErrorCode::kInDoubt) value.error().code = ErrorCode::kUnavailable;
    return value;
  }
  Result<> marked = guest->mark_created(hold_of(creation), *value, Mark::kWithCommit);
  if (marked) marked = connection.commit();
  if (marked) return value;
  if (marked.error().code == ErrorCode::kInDoubt) return fail(marked.error());
  connection.rollback();
  const auto given_up = give_up(hold_of(creation), marked.error().message, kAftermath);
  // It was not this call's any more.
  if (given_up && !*given_up) return fail(hold_is_over());
  return fail(marked.error());
}

Result<Acquired> PooledCreates::find_out(const Creation& creation, const Error& error) {
  const auto there = find(creation.key, kAftermath);
  if (there && *there && (*there)->fence == creation.fence &&
      (*there)->state == CreateState::kSucceeded) {
    return Acquired{Acquisition::kAcquired, **there};
  }
  return fail(ErrorCode::kInDoubt,
              error.message +
                  "; call again with the same key: what was created is replayed, what "
                  "was not is created then");
}

}  // namespace recourse::store::relational
