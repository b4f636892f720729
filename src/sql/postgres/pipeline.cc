#include "sql/postgres/pipeline.h"

#include <charconv>
#include <utility>

#include "sql/postgres/errors.h"
#include "sql/postgres/placeholders.h"
#include "sql/postgres/wire_format.h"

namespace recourse::sql::postgres {
namespace {

const Error kAlreadyLost{ErrorCode::kUnavailable,
                         "the connection to PostgreSQL is lost: open another"};

std::int64_t affected_rows(PGresult* result) {
  const std::string_view text = PQcmdTuples(result);
  std::int64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

bool is_success(const PGresult* result) {
  const ExecStatusType status = PQresultStatus(result);
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

// Something before it, since the last mark, has failed.
bool is_skipped(const PGresult* result) { return PQresultStatus(result) == PGRES_PIPELINE_ABORTED; }

// The server was told to end this session while it waited for a command. It heeds that between
// commands and inside of them, but never between a commit and its reply. Any other last word may
// come after the commit.
bool is_order_to_leave(const PGresult* result) {
  const std::string_view sqlstate = sqlstate_of(result);
  return sqlstate == "57P01" || sqlstate == "57P05" || sqlstate == "25P03";
}

}  // namespace

Result<> Pipeline::send(std::string_view statement, const Binding& binding, Role role) {
  if (!wire_.usable()) return fail(kAlreadyLost);
  if (!send_statement(statement, binding, role)) return fail(wire_.lose());
  return {};
}

bool Pipeline::send_statement(std::string_view statement, const Binding& binding, Role role) {
  PGconn* raw = wire_.get();
  Prepared* prepared = statements_.find_or_add(statement, binding.types());
  if (prepared == nullptr) {
    sent_.push_back({nullptr, role});
    const std::string text = with_numbered_placeholders(statement);
    return PQsendQueryParams(raw, text.c_str(), binding.count(), binding.types().data(),
                             binding.pointers(), binding.lengths(), binding.formats(),
                             kBinaryFormat) == 1;
  }
  if (prepared->state == Prepared::State::kUnsent) {
    prepared->state = Prepared::State::kSent;
    sent_.push_back({prepared, Role::kAside});
    if (PQsendPrepare(raw, prepared->name.c_str(), prepared->numbered_text.c_str(), binding.count(),
                      prepared->types.data()) != 1) {
      return false;
    }
  }
  sent_.push_back({nullptr, role});
  return PQsendQueryPrepared(raw, prepared->name.c_str(), binding.count(), binding.pointers(),
                             binding.lengths(), binding.formats(), kBinaryFormat) == 1;
}

Replies Pipeline::finish() {
  Replies replies;
  if (!wire_.usable()) {
    replies.note(kAlreadyLost);
  } else if (PQpipelineSync(wire_.get()) != 1) {
    replies.note(wire_.lose());
  } else {
    replies = read_all();
  }
  for (const Sent& sent : sent_) {
    if (sent.preparing != nullptr && sent.preparing->state == Prepared::State::kSent) {
      sent.preparing->state = Prepared::State::kUnsent;
    }
  }
  sent_.clear();
  return replies;
}

Replies Pipeline::read_all() {
  Replies replies;
  for (const Sent& sent : sent_) {
    Result<ResultHandle> reply = read_reply();
    if (!reply) {
      replies.note(std::move(reply).error());
      return replies;
    }
    PGresult* result = reply->get();
    if (is_skipped(result)) continue;
    if (!is_success(result)) {
      replies.surely_not_run = sent.role == Role::kAside || is_order_to_leave(result);
      replies.note(error_of(result));
      if (!is_last_word(result)) continue;
      wire_.lose();
      return replies;
    }
    if (sent.preparing != nullptr) sent.preparing->state = Prepared::State::kConfirmed;
    if (sent.role == Role::kAside) continue;
    replies.affected += affected_rows(result);
    replies.answer = std::move(*reply);
  }
  if (Result<> mark = read_mark(); !mark) {
    replies.note(std::move(mark).error());
  } else if (replies.error) {
    replies.surely_not_run = true;  // the server itself has said that it is over
  }
  return replies;
}

Result<ResultHandle> Pipeline::read_reply() {
  Result<ResultHandle> reply = wire_.next_result();
  if (!reply) return reply;
  const PGresult* result = reply->get();
  if (!is_skipped(result) && !is_success(result)) {
    // What has no code of the server was made up by libpq for a broken connection.
    if (sqlstate_of(result).empty()) return fail(wire_.lose());
    if (is_last_word(result)) return reply;
  }
  const Result<ResultHandle> end = wire_.next_result();
  if (!end) return fail(end.error());
  if (*end) return fail(wire_.lose("more than one reply to a statement"));
  return reply;
}

Result<> Pipeline::read_mark() {
  const Result<ResultHandle> mark = wire_.next_result();
  if (!mark) return fail(mark.error());
  if (PQresultStatus(mark->get()) == PGRES_PIPELINE_SYNC) return {};
  return fail(wire_.lose("the replies are out of step"));
}

bool Pipeline::is_clean() const {
  return sent_.empty() && PQtransactionStatus(wire_.get()) == PQTRANS_IDLE;
}

Result<> Pipeline::run_script(const std::string& script) {
  if (!wire_.usable()) return fail(kAlreadyLost);
  // Plain text does not exist in pipeline mode; leaving and entering it costs no round trip.
  if (PQpipelineStatus(wire_.get()) != PQ_PIPELINE_OFF && PQexitPipelineMode(wire_.get()) != 1) {
    return fail(wire_.lose());
  }
  if (PQsendQuery(wire_.get(), script.c_str()) != 1) return fail(wire_.lose());
  Result<> done = read_script_results();
  if (wire_.usable() && PQenterPipelineMode(wire_.get()) != 1) return fail(wire_.lose());
  return done;
}

Result<> Pipeline::read_script_results() {
  Result<> done;
  while (true) {
    Result<ResultHandle> reply = wire_.next_result();
    if (!reply) return done ? fail(std::move(reply).error()) : done;
    const PGresult* result = reply->get();
    if (result == nullptr) return done;
    if (is_success(result) || PQresultStatus(result) == PGRES_EMPTY_QUERY) continue;
    if (sqlstate_of(result).empty()) return done ? fail(wire_.lose()) : done;
    if (done) done = fail(error_of(result));
    if (is_last_word(result)) {
      wire_.lose();
      return done;
    }
  }
}

}  // namespace recourse::sql::postgres
