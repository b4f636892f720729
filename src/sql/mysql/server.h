// What answers, and what every session asks of it first.
#pragma once

#include "base/result.h"
#include "sql/mysql/connect.h"
#include "sql/mysql/wire.h"

namespace recourse::sql::mysql {

// kInvalid for a server without InnoDB.
Result<Server> ask_server(Wire& wire);

// The settings that never change.
Result<> prepare_session(Wire& wire, const Server& server);

// The settings that do. They are compared with what the session has, and sent only when they
// differ, so that the usual transaction costs no round trip for them.
struct Settings {
  // Off inside of transactions: the first statement begins one.
  bool autocommit = true;
  int lock_wait_s = 0;
  // Zero: none.
  int statement_s = 0;

  friend bool operator==(const Settings&, const Settings&) = default;
};

Result<> send(Wire& wire, const Server& server, const Settings& settings);

}  // namespace recourse::sql::mysql
