// One row's retry: claim, push, write back.
#include <algorithm>
#include <map>
#include <utility>

#include "base/invariant.h"
#include "guard/sql_table.h"

namespace recourse::guard {
namespace {

constexpr Duration kShortestHold = std::chrono::seconds(1);
// How soon to look again at a row that somebody else has locked.
constexpr Duration kLockedWait = std::chrono::seconds(1);
// Of the statement `push`.
constexpr std::size_t kPushValues = 4;
// Of races for one row that each change it: more than that is no race.
constexpr int kRacesMax = 5;

bool is(const Row& row, ErrStatus status) {
  return row.err_status == static_cast<std::int32_t>(status);
}

ClaimAnswer not_now(const Row& row, const GuardSettings& settings, TimePoint now) {
  ClaimAnswer answer{.claim = std::nullopt, .standing = standing_of(row, settings, now)};
  if (answer.standing == Standing::kLater && row.next_retry) answer.wait = *row.next_retry - now;
  return answer;
}

Result<> in_transaction(sql::Connection& connection, FunctionRef<Result<>()> work) {
  if (Result<> begun = connection.begin(); !begun) return begun;
  Result<> done = work();
  if (done) done = connection.commit();
  if (!done) connection.rollback();
  return done;
}

}  // namespace

// Nothing: the row has changed since it was read.
Result<std::optional<Claim>> SqlTable::claim_on(sql::Connection& connection, const View& view,
                                                const Row& row, TimePoint now,
                                                Duration hold) const {
  const Column& next = view.shape.next_retry;
  Claim claim{.row = row, .token = kept(next, now + std::max(hold, kShortestHold)), .now = now};
  if (!row.start_time) {
    claim.row.start_time = kept(view.shape.start_time, now);
    Values start;
    start.text(written(view.shape.start_time, now)).id(row.id);
    const auto given = connection.execute(view.statements.give_start, start.view());
    if (!given) return fail(given.error());
  }
  Values values;
  values.text(written(next, claim.token)).id(row.id).text(reached(next, now));
  values.id(view.fail).number(row.retries);
  const auto claimed = connection.execute(view.statements.claim, values.view());
  if (!claimed) return fail(claimed.error());
  if (*claimed == 0) return std::nullopt;
  return claim;
}

Result<ClaimAnswer> SqlTable::claim(const RowId& id, Duration hold, Duration within) {
  const Result<Seen> view = ready();
  if (!view) return fail(view.error());
  ClaimAnswer answer;
  const auto once = [&](sql::Connection& connection) -> Result<bool> {
    const Result<TimePoint> now = now_on(connection);
    if (!now) return fail(now.error());
    auto row = find_on(connection, **view, id, Rows::kFree);
    if (!row) return fail(row.error());
    const bool is_locked = !*row;
    if (is_locked) row = find_on(connection, **view, id);
    if (!row) return fail(row.error());
    answer = *row ? not_now(**row, settings_, *now)
                  : ClaimAnswer{.claim = std::nullopt, .standing = Standing::kNotWaiting};
    if (answer.standing != Standing::kDue) return true;
    // Not waited for: other rows want the thread.
    if (is_locked) {
      answer = {.claim = std::nullopt, .standing = Standing::kLater, .wait = kLockedWait};
      return true;
    }
    auto claimed = claim_on(connection, **view, **row, *now, hold);
    if (!claimed && claimed.error().code == ErrorCode::kExhausted) {
      answer = {.claim = std::nullopt, .standing = Standing::kLater, .wait = kLockedWait};
      return true;
    }
    if (!claimed) return fail(claimed.error());
    answer.claim = *std::move(claimed);
    return answer.claim.has_value();
  };
  const Result<> done = attempt(within, [&](sql::Connection& connection, bool) -> Result<> {
    for (int race = 0; race < kRacesMax; ++race) {
      const Result<bool> decided = once(connection);
      if (!decided) return fail(decided.error());
      if (*decided) return {};
    }
    answer = {.claim = std::nullopt, .standing = Standing::kLater, .wait = kLockedWait};
    return {};
  });
  if (!done) return fail(done.error());
  return answer;
}

Result<std::map<RowId, Row>> SqlTable::free_rows_on(sql::Connection& connection, const View& view,
                                                    std::span<const Claim> claims) const {
  Values values;
  values.id(view.fail).id(view.success);
  // All of the places are filled, so that there is one statement for any number.
  for (std::size_t i = 0; i < kPushedMax; ++i)
    values.id(claims[std::min(i, claims.size() - 1)].row.id);
  std::map<RowId, Row> rows;
  const Result<> found =
      connection.query(view.statements.find_free_many, values.view(), [&](const sql::Row& row) {
        Row seen = read_row(row, view.shape, settings_, clocks_);
        rows.insert_or_assign(seen.id, std::move(seen));
      });
  if (!found) return fail(found.error());
  return rows;
}

Result<std::vector<Pushed>> SqlTable::push_on(sql::Connection& connection, const View& view,
                                              std::span<const Claim> claims, TimePoint token,
                                              bool again) const {
  const auto rows = free_rows_on(connection, view, claims);
  if (!rows) return fail(rows.error());
  const Result<TimePoint> now = again ? now_on(connection) : TimePoint::max();
  if (!now) return fail(now.error());
  const Column& column = view.shape.next_retry;
  std::vector<Pushed> answers;
  std::int64_t held = 0;
  Values values;
  for (const Claim& claim : claims) {
    const auto row = rows->find(claim.row.id);
    const TimePoint next = std::max(claim.token, token);
    // Nobody else can have made it the new one while the old one lasts: that is how an earlier try,
    // whose reply was lost, is told from a stranger's.
    const bool is_ours = row != rows->end() && is(row->second, ErrStatus::kWaiting) &&
                         row->second.retries == claim.row.retries &&
                         (row->second.next_retry == claim.token ||
                          (row->second.next_retry == next && *now < claim.token));
    answers.push_back(is_ours              ? Pushed::kHeld
                      : row == rows->end() ? Pushed::kLocked
                                           : Pushed::kLost);
    if (!is_ours) continue;
    ++held;
    values.text(written(column, next)).id(claim.row.id);
    values.text(written(column, *row->second.next_retry)).number(claim.row.retries);
  }
  if (held == 0) return answers;
  const auto pushed = connection.execute_many(view.statements.push, kPushValues, values.view());
  if (!pushed) return fail(pushed.error());
  // Where rows cannot be locked, one may have changed since it was read.
  if (*pushed != held) return fail(ErrorCode::kConflict, "a row was changed while it was pushed");
  return answers;
}

Result<std::vector<Pushed>> SqlTable::push(std::span<Claim> claims, Duration hold,
                                           Duration within) {
  invariant(!claims.empty() && claims.size() <= kPushedMax, "a push is of a few rows");
  const Result<Seen> view = ready();
  if (!view) return fail(view.error());
  std::vector<Pushed> answers;
  std::optional<TimePoint> token;
  const Result<> done = attempt(within, [&](sql::Connection& connection, bool again) -> Result<> {
    const Result<TimePoint> now = now_on(connection);
    if (!now) return fail(now.error());
    if (!token) token = kept((*view)->shape.next_retry, *now + std::max(hold, kShortestHold));
    return in_transaction(connection, [&]() -> Result<> {
      auto pushed = push_on(connection, **view, claims, *token, again);
      if (!pushed) return fail(pushed.error());
      answers = *std::move(pushed);
      return {};
    });
  });
  if (!done) return fail(done.error());
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (answers[i] == Pushed::kHeld) claims[i].token = std::max(claims[i].token, *token);
  }
  return answers;
}

Result<bool> SqlTable::succeeded(const Claim& claim, Duration within) {
  const Result<Seen> view = ready();
  if (!view) return fail(view.error());
  bool ours = false;
  const Result<> done = attempt(within, [&](sql::Connection& connection, bool again) -> Result<> {
    Values values;
    values.id((*view)->success).id(claim.row.id);
    values.text(written((*view)->shape.next_retry, claim.token));
    values.id((*view)->fail).id((*view)->success);
    const auto written_back = connection.execute((*view)->statements.succeeded, values.view());
    if (!written_back) return fail(written_back.error());
    ours = *written_back > 0;
    if (ours || !again) return {};
    const auto row = find_on(connection, **view, claim.row.id);
    if (!row) return fail(row.error());
    ours = *row && is(**row, ErrStatus::kHealedItself) && (**row).next_retry == claim.token;
    return {};
  });
  if (!done) return fail(done.error());
  return ours;
}

Result<std::optional<AfterFailure>> SqlTable::failed(const Claim& claim, Duration within) {
  const Result<Seen> view = ready();
  if (!view) return fail(view.error());
  const Column& next = (*view)->shape.next_retry;
  std::optional<AfterFailure> decided;
  std::optional<AfterFailure> tried;
  const Result<> done = attempt(within, [&](sql::Connection& connection, bool again) -> Result<> {
    const Result<TimePoint> now = now_on(connection);
    if (!now) return fail(now.error());
    // Decided once: a second try says the same, whatever the clock says meanwhile.
    if (!tried) tried = after_failure(claim.row, settings_, *now);
    if (tried->next_retry) tried->next_retry = kept(next, *tried->next_retry);
    Values values;
    if (tried->next_retry) values.number(tried->retries).text(written(next, *tried->next_retry));
    values.id(claim.row.id).text(written(next, claim.token)).number(claim.row.retries);
    const auto written_back = connection.execute(
        tried->next_retry ? (*view)->statements.retry_later : (*view)->statements.escalate,
        values.view());
    if (!written_back) return fail(written_back.error());
    if (*written_back > 0) decided = tried;
    if (*written_back > 0 || !again) return {};
    const auto row = find_on(connection, **view, claim.row.id);
    if (!row) return fail(row.error());
    const bool as_tried =
        *row && (tried->next_retry
                     ? is(**row, ErrStatus::kWaiting) && (**row).next_retry == tried->next_retry &&
                           (**row).retries == tried->retries
                     : is(**row, ErrStatus::kNeedsPerson));
    if (as_tried) decided = tried;
    return {};
  });
  if (!done) return fail(done.error());
  return decided;
}

}  // namespace recourse::guard
