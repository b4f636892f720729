#include "sql/postgres/errors.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"

namespace recourse::sql::postgres {
namespace {

struct Meaning {
  std::string_view prefix;
  ErrorCode code;
};

// The first that fits counts, so exceptions stand before their class. What is not here can never
// work as it stands.
constexpr std::array kMeanings{
    Meaning{"25006", ErrorCode::kUnavailable},  // read-only: a standby, or set so by a person
    Meaning{"25P03", ErrorCode::kUnavailable},  // idle in a transaction for too long
    Meaning{"40", ErrorCode::kConflict},        // deadlock, serialisation
    Meaning{"23505", ErrorCode::kConflict},     // somebody else inserted this key first
    Meaning{"55P03", ErrorCode::kExhausted},    // lock_timeout
    Meaning{"08P01", ErrorCode::kInvalid},      // such as too few values
    Meaning{"08", ErrorCode::kUnavailable},     // connection
    Meaning{"53", ErrorCode::kUnavailable},     // disk, memory, connections
    Meaning{"57", ErrorCode::kUnavailable},     // statement_timeout, shutdown, starting up
    Meaning{"58", ErrorCode::kUnavailable},     // the operating system's errors
    Meaning{"F0", ErrorCode::kUnavailable},     // configuration file
    Meaning{"XX001", ErrorCode::kCorrupt},     Meaning{"XX002", ErrorCode::kCorrupt},
    Meaning{"XX", ErrorCode::kUnavailable},  // the server's own bug: may pass, and is no data error
};

struct Advice {
  std::string_view sqlstate;
  std::string_view text;
};

constexpr std::array kAdvice{
    Advice{"25006",
           "the server is read-only: connect to the primary (target_session_attrs=read-write)"},
    Advice{"25P03", "the transaction stood idle too long and was ended"},
    Advice{"26000", "a pooler in transaction mode loses statements: connect directly"},
    Advice{"28000", "check the user in the URL and the server's pg_hba.conf"},
    Advice{"28P01", "check the user and the password in the URL"},
    Advice{"3D000", "create the database, or correct its name in the URL"},
    Advice{"42501", "grant the missing right to the user in the URL"},
    Advice{"42P01", "the table is missing: the schema is not migrated, or search_path is another"},
    Advice{"42P05", "a pooler in transaction mode mixes sessions: connect directly"},
    Advice{"53100", "the database's disk is full: free space there"},
    Advice{"53200", "the database server is out of memory"},
    Advice{"53300", "raise max_connections, or let fewer programs connect"},
    Advice{"57P03", "the server is starting or stopping: wait for it"},
    Advice{"58030", "the server cannot read or write its files: see its log"},
    Advice{"XX001", "the database says its data is damaged: stop, and restore or repair it"},
    Advice{"XX002", "the database says an index is damaged: stop, and REINDEX or restore"},
};

std::string_view advice_for(std::string_view sqlstate) {
  const auto* found = std::ranges::find(kAdvice, sqlstate, &Advice::sqlstate);
  return found == kAdvice.end() ? std::string_view() : found->text;
}

std::string_view field(const PGresult* result, int code) {
  const char* text = PQresultErrorField(result, code);
  return text == nullptr ? std::string_view() : std::string_view(text);
}

}  // namespace

ErrorCode code_of(std::string_view sqlstate) {
  const auto* found = std::ranges::find_if(
      kMeanings, [&](const Meaning& meaning) { return sqlstate.starts_with(meaning.prefix); });
  return found == kMeanings.end() ? ErrorCode::kInvalid : found->code;
}

Error error_of(std::string_view sqlstate, std::string_view message) {
  std::string text = "PostgreSQL: " + clean_text(message, kErrorCharactersMax / 2);
  text.append(" (").append(sqlstate).append(")");
  const std::string_view advice = advice_for(sqlstate);
  if (!advice.empty()) text.append("; ").append(advice);
  return {code_of(sqlstate), std::move(text)};
}

Error error_of(const PGresult* result) {
  return error_of(sqlstate_of(result), field(result, PG_DIAG_MESSAGE_PRIMARY));
}

bool is_last_word(const PGresult* result) {
  const std::string_view severity = field(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  return severity == "FATAL" || severity == "PANIC";
}

std::string_view sqlstate_of(const PGresult* result) { return field(result, PG_DIAG_SQLSTATE); }

std::optional<Refusal> find_refusal(std::string_view libpq_text) {
  constexpr std::size_t kCodeSize = 5;
  constexpr std::string_view kBefore = ":  ";
  constexpr std::string_view kAfter = ": ";
  const auto is_code = [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0 || (c >= 'A' && c <= 'Z');
  };
  for (std::size_t at = libpq_text.find(kBefore); at != std::string_view::npos;
       at = libpq_text.find(kBefore, at + 1)) {
    const std::string_view rest = libpq_text.substr(at + kBefore.size());
    const std::string_view code = rest.substr(0, kCodeSize);
    if (code.size() < kCodeSize || !std::ranges::all_of(code, is_code)) continue;
    if (!rest.substr(kCodeSize).starts_with(kAfter)) continue;
    const std::string_view message = rest.substr(kCodeSize + kAfter.size());
    return Refusal{std::string(code), std::string(message.substr(0, message.find('\n')))};
  }
  return std::nullopt;
}

}  // namespace recourse::sql::postgres
