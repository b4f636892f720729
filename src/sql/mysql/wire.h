// libmariadb's handle, and the one place that waits for a server.
//
// The library's own time-outs are whole seconds, fixed before connecting, and start again with
// every read, so a server that dribbles would never meet them. Its non-blocking calls instead
// suspend themselves whenever they would wait; here that wait is a poll() up to the deadline. What
// is late is told so, fails, and closes the connection: no thread, no signal, and nothing else
// that could touch a socket after it was closed.
//
// Thread safety: none.
#pragma once

#include <mysql.h>

#include <memory>
#include <string_view>

#include "base/function_ref.h"
#include "base/result.h"
#include "sql/connection.h"
#include "sql/mysql/address.h"

namespace recourse::sql::mysql {

struct HandleCloser {
  void operator()(MYSQL* handle) const noexcept { mysql_close(handle); }
};

struct StatementCloser {
  void operator()(MYSQL_STMT* statement) const noexcept { mysql_stmt_close(statement); }
};
using StatementHandle = std::unique_ptr<MYSQL_STMT, StatementCloser>;

class Wire {
 public:
  static Result<Wire> open(const Address& address, Deadline deadline);

  void set_deadline(Deadline deadline) { deadline_ = deadline; }
  [[nodiscard]] bool is_late() const;
  [[nodiscard]] bool is_lost() const { return is_lost_; }
  [[nodiscard]] bool has_bulk() const;
  [[nodiscard]] int socket() const;
  [[nodiscard]] MYSQL* handle() const { return handle_.get(); }

  // As text, unprepared; may be several. Calls `on_row` with each row of every answer.
  Result<> run(std::string_view statements, FunctionRef<void(MYSQL_ROW)> on_row);
  Result<> commit();
  // Nothing is left of the transaction, or the wire is lost.
  void rollback();

  Result<StatementHandle> prepare(std::string_view text);
  // What was bound is sent, and the whole answer is here afterwards: fetching it waits no more.
  Result<> execute(MYSQL_STMT& statement);

 private:
  Wire(MYSQL* handle, Deadline deadline) : handle_(handle), deadline_(deadline) {}

  // Runs a non-blocking call to its end.
  void drive(FunctionRef<int()> start, FunctionRef<int(int)> go_on);
  // What of `events` happened by the deadline.
  int wait_for(int events);

  Result<> read_answer(FunctionRef<void(MYSQL_ROW)> on_row);
  Error handle_error();
  Error statement_error(MYSQL_STMT& statement);
  Error error(unsigned int number, std::string_view message);

  std::unique_ptr<MYSQL, HandleCloser> handle_;
  Deadline deadline_;
  bool is_connecting_ = true;
  bool was_late_ = false;
  bool is_lost_ = false;
};

}  // namespace recourse::sql::mysql
