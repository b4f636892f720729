// Statements on their way, in libpq's pipeline mode: they are sent one after the other without
// waiting, up to a mark (Sync), and the replies are read in the same order. When one fails, the
// server skips all after it up to the mark; so after the mark the connection is in order again,
// whatever happened before it.
//
// Invariants
//   1. Every command that was sent is in sent_ until its reply was read.
//   2. Between two calls of finish() no reply is read; after it none is missing, or the wire is
//   lost.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sql/postgres/binding.h"
#include "sql/postgres/statements.h"
#include "sql/postgres/wire.h"

namespace recourse::sql::postgres {

enum class Role : std::uint8_t {
  kAside,   // only its failure matters
  kAnswer,  // counted, and its rows are kept
};

struct Replies {
  std::optional<Error> error;  // the first; those after it only follow from it
  // The last statement in the role of an answer has surely done nothing: one before it failed, or
  // the server refused it in plain words. Only with an error.
  bool surely_not_run = false;
  std::int64_t affected = 0;
  // Of the last statement in the role of an answer that succeeded. It can be there beside an error:
  // the connection was lost after it.
  ResultHandle answer;

  void note(Error next_error) {
    if (!error) error = std::move(next_error);
  }
};

class Pipeline {
 public:
  explicit Pipeline(Wire wire) : wire_(std::move(wire)) {}

  [[nodiscard]] Wire& wire() { return wire_; }
  [[nodiscard]] const Wire& wire() const { return wire_; }

  // Copies the values. Fails only when the connection is lost.
  Result<> send(std::string_view statement, const Binding& binding, Role role);

  // Sets the mark, and reads all replies up to it.
  Replies finish();

  // Nothing is on its way, and no transaction is open or failed.
  [[nodiscard]] bool is_clean() const;

  // Several statements as plain text, when nothing is on its way.
  Result<> run_script(const std::string& script);

 private:
  struct Sent {
    Prepared* preparing;  // null for anything but a preparation
    Role role;
  };

  bool send_statement(std::string_view statement, const Binding& binding, Role role);
  Replies read_all();
  Result<ResultHandle> read_reply();
  Result<> read_mark();
  Result<> read_script_results();

  Wire wire_;
  Statements statements_;
  std::vector<Sent> sent_;
};

}  // namespace recourse::sql::postgres
