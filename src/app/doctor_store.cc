#include "app/doctor_store.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "app/kinds.h"
#include "sql/mysql/connect.h"
#include "sql/postgres/connect.h"
#include "sql/sqlite/connection.h"
#include "store/mysql/schema.h"
#include "store/postgres/schema.h"
#include "store/sqlite/schema.h"

namespace recourse::app {
namespace {

constexpr std::string_view kSqlite = "sqlite:";
constexpr auto kDoctorPatience = std::chrono::seconds(10);
// More than this and leases and times of people differ noticeably.
constexpr Duration kOffsetMax = std::chrono::seconds(1);

// What the doctor asks of one sort of database.
struct Questions {
  std::size_t known_schema;
  // One row and one column each; a text, and a number of microseconds since 1970.
  const char* durability;
  std::string_view durable_answer;
  const char* clock;
  std::string_view durable_remedy;
};

std::optional<std::int64_t> ask_number(sql::Connection& connection, const char* statement) {
  std::optional<std::int64_t> answer;
  const Result<> asked = connection.query(statement, {}, [&](const sql::Row& row) {
    if (!row.is_null(0)) answer = row.integer(0);
  });
  return asked ? answer : std::nullopt;
}

std::string ask_text(sql::Connection& connection, const char* statement) {
  std::string answer;
  const Result<> asked = connection.query(
      statement, {}, [&](const sql::Row& row) { answer = std::string(row.bytes(0)); });
  return asked ? answer : std::string();
}

void examine_schema(sql::Connection& connection, std::size_t known, Findings& findings) {
  const auto schema =
      ask_number(connection, "SELECT value FROM recourse_meta WHERE name = 'schema'");
  if (!schema) {
    return findings.doubtful("store", "it has no tables of Recourse that can be read",
                             "start the server once: recourse serve creates them; or let this user "
                             "read them");
  }
  const auto known_number = static_cast<std::int64_t>(known);
  if (*schema > known_number) {
    return findings.broken("store",
                           fmt::format("a newer program has written it: schema {}, and this one "
                                       "knows up to {}",
                                       *schema, known),
                           "use that newer program, or another store");
  }
  findings.fine("store",
                *schema == known_number
                    ? fmt::format("schema {}, as this program has it", *schema)
                    : fmt::format("schema {}; recourse serve brings it to {}", *schema, known));
}

void examine_connection(sql::Connection& connection, const Questions& questions, const Clock& clock,
                        Findings& findings) {
  examine_schema(connection, questions.known_schema, findings);
  const std::string durability = ask_text(connection, questions.durability);
  if (durability == questions.durable_answer) {
    findings.fine("durability", "a commit that was answered survives a crash");
  } else if (!durability.empty()) {
    findings.doubtful("durability",
                      fmt::format("a crash can lose commits that were answered ({})", durability),
                      std::string(questions.durable_remedy));
  }
  if (questions.clock == nullptr) return;
  const TimePoint before = clock.now();
  const auto theirs = ask_number(connection, questions.clock);
  if (!theirs) return;
  const Duration offset = TimePoint(Duration(*theirs)) - before;
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(offset).count();
  if (offset > kOffsetMax || offset < -kOffsetMax) {
    findings.doubtful("clock", fmt::format("the store's is {} ms from ours", milliseconds),
                      "let a time server set both");
  } else {
    findings.fine("clock", fmt::format("the store's is {} ms from ours", milliseconds));
  }
}

void examine_directory(const std::filesystem::path& file, Findings& findings) {
  std::filesystem::path directory = file.parent_path();
  if (directory.empty()) directory = ".";
  struct stat status {};
  if (::stat(directory.c_str(), &status) != 0) {
    return findings.doubtful("data directory", directory.string() + " is not there yet",
                             "recourse serve creates it, where it may");
  }
  if (::access(directory.c_str(), R_OK | W_OK | X_OK) != 0) {
    return findings.broken("data directory", directory.string() + " cannot be written by us",
                           fmt::format("chown {} {}", ::geteuid(), directory.string()));
  }
  if ((status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0) {
    return findings.doubtful("data directory", directory.string() + " can be written by everybody",
                             "chmod o-w " + directory.string());
  }
  findings.fine("data directory", directory.string() + " can be written by us");
}

template <class Connected>
void examine_server(Connected connection, const Questions& questions, const std::string& url,
                    const Clock& clock, Findings& findings) {
  if (!connection) {
    return findings.broken("store",
                           fmt::format("{}: {}", shown_url(url), connection.error().message),
                           "start the database, or correct store.url");
  }
  findings.fine("store", shown_url(url) + " answers");
  examine_connection(**connection, questions, clock, findings);
}

void examine_sqlite(const std::string& path, const Clock& clock, Findings& findings) {
  examine_directory(path, findings);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return findings.fine("store", path + " is not there yet; recourse serve creates it");
  }
  const Questions questions{.known_schema = store::sqlite::migrations().size(),
                            .durability = "PRAGMA journal_mode",
                            .durable_answer = "wal",
                            .clock = nullptr,
                            .durable_remedy = "start the server once: it sets the write-ahead log"};
  examine_server(sql::sqlite::open(path, sql::sqlite::Access::kRead), questions,
                 std::string(kSqlite) + path, clock, findings);
}

}  // namespace

void examine_store(const Config& config, const Clock& clock, Findings& findings) {
  const std::string& url = config.store.url.reveal();
  const auto deadline = std::chrono::steady_clock::now() + kDoctorPatience;
  if (url.starts_with(kSqlite)) return examine_sqlite(url.substr(kSqlite.size()), clock, findings);
  if (url.starts_with("postgres")) {
    const Questions questions{
        .known_schema = store::postgres::migrations().size(),
        .durability =
            "SELECT CASE WHEN current_setting('fsync') = 'on' AND "
            "current_setting('synchronous_commit') <> 'off' THEN 'durable' ELSE "
            "'fsync ' || current_setting('fsync') || ', synchronous_commit ' || "
            "current_setting('synchronous_commit') END",
        .durable_answer = "durable",
        .clock = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint",
        .durable_remedy = "set fsync and synchronous_commit to on"};
    return examine_server(sql::postgres::connect(url, deadline), questions, url, clock, findings);
  }
  if (url.starts_with("mysql") || url.starts_with("mariadb")) {
    const Questions questions{
        .known_schema = store::mysql::migrations().size(),
        .durability =
            "SELECT CASE WHEN @@innodb_flush_log_at_trx_commit IN (1, 3) THEN 'durable' "
            "ELSE CONCAT('innodb_flush_log_at_trx_commit ', "
            "@@innodb_flush_log_at_trx_commit) END",
        .durable_answer = "durable",
        .clock = "SELECT CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)",
        .durable_remedy = "set innodb_flush_log_at_trx_commit to 1"};
    return examine_server(sql::mysql::connect(url, deadline), questions, url, clock, findings);
  }
  findings.doubtful("store", "it is in memory: everything is gone with the process",
                    "name another under store.url");
}

}  // namespace recourse::app
