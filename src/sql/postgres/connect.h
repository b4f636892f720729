// Opens a connection and puts the session in order.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "sql/connection.h"
#include "sql/postgres/connection.h"
#include "sql/postgres/handles.h"

namespace recourse::sql::postgres {

// Nets below our own deadlines, for the day when this process hangs or vanishes in the middle: the
// server has none of them by default.
struct Settings {
  Duration statement_timeout = std::chrono::minutes(5);
  Duration lock_timeout = std::chrono::minutes(1);
  Duration idle_in_transaction_timeout = std::chrono::minutes(1);
  // How soon the server finds that nobody waits for a running statement any more.
  Duration connection_check_interval = std::chrono::seconds(1);
  // The planner as our own statements want it; a user's want it as it is.
  bool plans_for_us = true;
};

// `url` begins with postgres:// or postgresql://. kInvalid where somebody has to correct something
// (URL, password, database, encoding), else kUnavailable; no error shows the password.
//
// The deadline bounds everything but the look-up of a host name, in which libpq blocks: there the
// resolver's own timeouts count.
Result<std::unique_ptr<PostgresConnection>> connect(const std::string& url, Deadline deadline,
                                                    const Settings& settings = {});
// The same without the session: open, and in non-blocking mode.
Result<ConnectionHandle> open_handle(const std::string& url, Deadline deadline);

}  // namespace recourse::sql::postgres
