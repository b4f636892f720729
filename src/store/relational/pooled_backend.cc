#include "store/relational/pooled_backend.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "store/countdown.h"
#include "store/relational/stripe.h"

namespace recourse::store::relational {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kHeartLines = 1;
constexpr std::size_t kWaitingLines = 4;
constexpr Duration kFirstPause = std::chrono::milliseconds(5);
constexpr Duration kLongestPause = std::chrono::seconds(1);

// Growing pauses between tries, never past the deadline: a server that is down is asked a few times
// a second, not thousands of times.
class RetryPauses {
 public:
  // False when there is no time left.
  bool wait(sql::Deadline deadline) {
    const auto left = deadline - steady_clock::now();
    if (left <= steady_clock::duration::zero()) return false;
    std::this_thread::sleep_for(std::min<steady_clock::duration>(next_, left));
    next_ = std::min(next_ * 2, kLongestPause);
    return steady_clock::now() < deadline;
  }

 private:
  Duration next_ = kFirstPause;
};

}  // namespace

PooledBackend::PooledBackend(const sql::Pool::Connect& connect, const Dialect& dialect,
                             const PoolSizes& sizes)
    : dialect_(dialect),
      stripes_(random_stripe()),
      work_(connect, sizes.work),
      heart_(connect, kHeartLines),
      waiting_(connect, kWaitingLines),
      reading_(connect, sizes.reading) {}

sql::Pool& PooledBackend::pool_of(Line line) {
  switch (line) {
    case Line::kWork: return work_;
    case Line::kHeart: return heart_;
    case Line::kWaiting: return waiting_;
  }
  std::abort();
}

Result<> PooledBackend::run(Line line, Repeat repeat, Duration within,
                            FunctionRef<Result<>(Transaction&)> work) {
  const sql::Deadline deadline = deadline_of(within);
  RetryPauses pauses;
  auto care = RelationalTransaction::Care::kHopeful;
  // Set once a COMMIT was sent and its reply lost: from then on no other answer is honest, until a
  // repeat has found out.
  bool in_doubt = false;
  while (true) {
    const Outcome outcome = borrow_and_run(line, care, deadline, work);
    if (outcome.end == End::kInDoubt) {
      if (repeat == Repeat::kInDoubt) return outcome.result;
      in_doubt = true;
    } else if (outcome.end == End::kDone && (outcome.result || !in_doubt)) {
      return outcome.result;
    }
    care = RelationalTransaction::Care::kCareful;
    if (!pauses.wait(deadline)) {
      if (!in_doubt) return outcome.result;
      return fail(ErrorCode::kInDoubt,
                  "the reply to a commit was lost, and the store could not be "
                  "asked again before the deadline: " +
                      (outcome.result ? std::string() : outcome.result.error().message));
    }
  }
}

// The connection is given back before anybody pauses.
PooledBackend::Outcome PooledBackend::borrow_and_run(Line line, RelationalTransaction::Care care,
                                                     sql::Deadline deadline,
                                                     FunctionRef<Result<>(Transaction&)> work) {
  Result<sql::Pool::Loan> loan = pool_of(line).borrow(deadline);
  if (!loan) {
    // Anything else is not a matter of waiting: a wrong URL, a missing right.
    const bool again = loan.error().code == ErrorCode::kUnavailable;
    return {.result = fail(loan.error()), .end = again ? End::kAgain : End::kDone};
  }
  loan->connection().set_deadline(deadline);
  Outcome outcome = run_once(*loan, line, care, work);
  // What a session cannot do any more, another one may: a read-only one stays so after the primary
  // has moved or somebody has switched the setting off.
  const bool refused = !outcome.result && outcome.result.error().code == ErrorCode::kUnavailable;
  if (refused && steady_clock::now() < deadline) loan->discard();
  return outcome;
}

PooledBackend::Outcome PooledBackend::run_once(const sql::Pool::Loan& loan, Line line,
                                               RelationalTransaction::Care care,
                                               FunctionRef<Result<>(Transaction&)> work) {
  sql::Connection& connection = loan.connection();
  Ulid stripe = stripes_;
  stripe.bytes[14] = static_cast<std::uint8_t>(line);
  stripe.bytes[15] = static_cast<std::uint8_t>(loan.seat());
  const auto judge = [&](Result<> result) -> Outcome {
    const ErrorCode code = result.error().code;
    const bool again = code == ErrorCode::kConflict || !connection.usable();
    return {.result = std::move(result), .end = again ? End::kAgain : End::kDone};
  };
  if (Result<> begun = connection.begin(); !begun) {
    connection.rollback();
    return judge(std::move(begun));
  }
  const std::unique_ptr<Transaction> transaction =
      start({.connection = connection, .dialect = dialect_, .stripe = stripe}, care);
  if (Result<> worked = work(*transaction); !worked) {
    connection.rollback();
    return judge(std::move(worked));
  }
  Result<> committed = connection.commit();
  if (committed) return {.result = {}, .end = End::kDone};
  if (committed.error().code == ErrorCode::kInDoubt) {
    return {.result = std::move(committed), .end = End::kInDoubt};
  }
  connection.rollback();
  return judge(std::move(committed));
}

Result<> PooledBackend::read(Duration within, FunctionRef<Result<>(sql::Connection&)> work) {
  const sql::Deadline deadline = deadline_of(within);
  RetryPauses pauses;
  while (true) {
    Result<> answer;
    bool again = true;
    if (Result<sql::Pool::Loan> loan = reading_.borrow(deadline)) {
      sql::Connection& connection = loan->connection();
      connection.set_deadline(deadline);
      answer = work(connection);
      connection.rollback();
      again = !answer && (!connection.usable() || answer.error().code == ErrorCode::kConflict);
    } else {
      answer = fail(loan.error());
      again = loan.error().code == ErrorCode::kUnavailable;
    }
    if (answer || !again || !pauses.wait(deadline)) return answer;
  }
}

Result<> PooledBackend::ask(Duration within, FunctionRef<Result<>(sql::Connection&)> work) {
  const sql::Deadline deadline = deadline_of(within);
  Result<sql::Pool::Loan> loan = work_.borrow(deadline);
  if (!loan) return fail(loan.error());
  loan->connection().set_deadline(deadline);
  return work(loan->connection());
}

Result<TimePoint> PooledBackend::now(sql::Connection& connection) {
  TimePoint now;
  const Result<> asked = connection.query(
      dialect_.now, {}, [&](const sql::Row& row) { now = read_time(row.integer(0)); });
  if (!asked) return fail(asked.error());
  return now;
}

}  // namespace recourse::store::relational
