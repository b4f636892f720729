#include "sql/postgres/connect.h"

#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "sql/postgres/errors.h"
#include "sql/postgres/handles.h"
#include "sql/postgres/pipeline.h"
#include "sql/postgres/url.h"
#include "sql/postgres/wire.h"

namespace recourse::sql::postgres {
namespace {

Error refused(PGconn* raw) {
  const std::string_view text = PQerrorMessage(raw);
  if (const std::optional<Refusal> refusal = find_refusal(text)) {
    return error_of(refusal->sqlstate, refusal->message);
  }
  if (PQconnectionNeedsPassword(raw) != 0) {
    return {ErrorCode::kInvalid, "PostgreSQL asks for a password: add one to the URL"};
  }
  return {ErrorCode::kUnavailable,
          "cannot connect to PostgreSQL (is it running, are host and port right?): " +
              clean_text(text.substr(0, text.find('\n')), kErrorCharactersMax / 2)};
}

// What comes later in the list counts, so the encoding cannot be changed by the URL.
ConnectionHandle start(const std::string& url) {
  const std::array<const char*, 4> keywords{"dbname", "fallback_application_name",
                                            "client_encoding", nullptr};
  const std::array<const char*, 4> values{url.c_str(), "recourse", "UTF8", nullptr};
  constexpr int kReadUrlInDbname = 1;
  return ConnectionHandle(PQconnectStartParams(keywords.data(), values.data(), kReadUrlInDbname));
}

Result<> check_encoding(PGconn* raw) {
  const char* encoding = PQparameterStatus(raw, "server_encoding");
  if (encoding != nullptr && std::string_view(encoding) == "UTF8") return {};
  return fail(
      ErrorCode::kInvalid,
      fmt::format("the database's encoding is {}, not UTF8: create one with ENCODING 'UTF8'",
                  encoding == nullptr ? "unknown" : encoding));
}

// The planner's settings: on a young table, which nobody has analysed yet, it would choose scans
// and joins that take twice as long as the index (and now and then ten times).
std::string session_script(const Settings& settings, int server_version) {
  const auto milliseconds = [](Duration duration) {
    return std::chrono::ceil<std::chrono::milliseconds>(duration).count();
  };
  std::string script = fmt::format(
      "SET TimeZone = 'UTC'; SET standard_conforming_strings = on;"
      "SET default_transaction_isolation = 'read committed';"
      "SET statement_timeout = {}; SET lock_timeout = {};"
      "SET idle_in_transaction_session_timeout = {};",
      milliseconds(settings.statement_timeout), milliseconds(settings.lock_timeout),
      milliseconds(settings.idle_in_transaction_timeout));
  if (settings.plans_for_us)
    script +=
        "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off;"
        // One plan for any values: the statements are written for it, and the claim was planned
        // anew for each batch, which cost about a millisecond of the three and a half that 100
        // tasks took.
        "SET enable_mergejoin = off; SET jit = off; SET plan_cache_mode = force_generic_plan;";
  constexpr int kKnowsConnectionCheck = 140'000;
  if (server_version >= kKnowsConnectionCheck) {
    script += fmt::format("SET client_connection_check_interval = {};",
                          milliseconds(settings.connection_check_interval));
  }
  return script;
}

}  // namespace

Result<ConnectionHandle> open_handle(const std::string& url, Deadline deadline) {
  ConnectionHandle connection = start(url);
  if (!connection) return fail(ErrorCode::kUnavailable, "out of memory");
  PGconn* raw = connection.get();
  PQsetErrorVerbosity(raw, PQERRORS_VERBOSE);  // see find_refusal
  PQsetNoticeReceiver(
      raw, [](void*, const PGresult*) {}, nullptr);
  PostgresPollingStatusType wanted = PGRES_POLLING_WRITING;
  if (PQstatus(raw) == CONNECTION_BAD) return fail(refused(raw));
  while (wanted != PGRES_POLLING_OK) {
    const auto events = static_cast<short>(wanted == PGRES_POLLING_READING ? POLLIN : POLLOUT);
    if (!wait_for_socket(PQsocket(raw), events, deadline)) {
      return fail(ErrorCode::kUnavailable,
                  "PostgreSQL did not answer in time: check host, port and firewall");
    }
    wanted = PQconnectPoll(raw);
    if (wanted == PGRES_POLLING_FAILED) return fail(refused(raw));
  }
  if (PQsetnonblocking(raw, 1) != 0) return fail(refused(raw));
  return connection;
}

Result<std::unique_ptr<PostgresConnection>> connect(const std::string& url, Deadline deadline,
                                                    const Settings& settings) {
  if (Result<> readable = check_url(url); !readable) return fail(std::move(readable).error());
  Result<ConnectionHandle> opened = open_handle(url, deadline);
  if (!opened) return fail(std::move(opened).error());
  PGconn* raw = opened->get();
  if (Result<> readable = check_encoding(raw); !readable) return fail(std::move(readable).error());
  const int version = PQserverVersion(raw);

  Pipeline pipeline{Wire(std::move(*opened))};
  pipeline.wire().set_deadline(deadline);
  if (Result<> set = pipeline.run_script(session_script(settings, version)); !set) {
    return fail(std::move(set).error());
  }
  return std::make_unique<PostgresConnection>(std::move(pipeline));
}

}  // namespace recourse::sql::postgres
