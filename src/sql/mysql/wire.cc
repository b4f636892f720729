#include "sql/mysql/wire.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <limits>
#include <utility>

#include "base/invariant.h"
#include "sql/mysql/errors.h"
#include "sql/mysql/result_handle.h"

namespace recourse::sql::mysql {

namespace {

using std::chrono::steady_clock;

// A suspended call keeps its stack here. Resolving a host name and a TLS handshake need more than
// the library's 60 KiB; what is not touched costs no memory.
constexpr std::size_t kStackBytes = std::size_t{1024} * 1024;

std::chrono::milliseconds time_left(Deadline deadline) {
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now()),
                  std::chrono::milliseconds(0));
}

void set_tls(MYSQL* handle, const Address& address) {
  const my_bool enforce = address.tls == Tls::kOff ? 0 : 1;
  const my_bool verify = address.tls == Tls::kVerified ? 1 : 0;
  mysql_options(handle, MYSQL_OPT_SSL_ENFORCE, &enforce);
  mysql_options(handle, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
  if (!address.tls_ca.empty()) mysql_options(handle, MYSQL_OPT_SSL_CA, address.tls_ca.c_str());
}

void set_options(MYSQL* handle, const Address& address, Deadline deadline) {
  mysql_options(handle, MYSQL_OPT_NONBLOCK, &kStackBytes);
  // The TLS handshake is the one wait that goes by the library's own clock.
  const auto seconds = static_cast<unsigned int>(
      std::clamp<std::int64_t>(time_left(deadline).count() / 1'000 + 1, 1, 3'600));
  for (const mysql_option bound :
       {MYSQL_OPT_CONNECT_TIMEOUT, MYSQL_OPT_READ_TIMEOUT, MYSQL_OPT_WRITE_TIMEOUT}) {
    mysql_options(handle, bound, &seconds);
  }
  // Said outright, because the library takes the name localhost for a socket.
  const unsigned int protocol = address.socket.empty() ? MYSQL_PROTOCOL_TCP : MYSQL_PROTOCOL_SOCKET;
  mysql_options(handle, MYSQL_OPT_PROTOCOL, &protocol);
  mysql_options(handle, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  // A server must not be able to ask for files of this machine.
  const unsigned int local_files = 0;
  mysql_options(handle, MYSQL_OPT_LOCAL_INFILE, &local_files);
  // Lengths are asked for first and values fetched afterwards, which the library would report.
  const my_bool report_truncation = 0;
  mysql_options(handle, MYSQL_REPORT_DATA_TRUNCATION, &report_truncation);
  set_tls(handle, address);
}

const char* or_null(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

// Under TLS the library suspends a call only where the socket itself does not block.
void suspend_instead_of_block(int socket) {
  const int flags = fcntl(socket, F_GETFL);
  fcntl(socket, F_SETFL, flags | O_NONBLOCK);
}

// Thread-safe only when done once before anything else.
bool library_is_ready() {
  static const bool is_ready = mysql_library_init(0, nullptr, nullptr) == 0;
  return is_ready;
}

}  // namespace

Result<Wire> Wire::open(const Address& address, Deadline deadline) {
  invariant(library_is_ready(), "libmariadb starts");
  Wire wire(mysql_init(nullptr), deadline);
  MYSQL* handle = wire.handle_.get();
  invariant(handle != nullptr, "there is memory for a connection");
  set_options(handle, address, deadline);

  MYSQL* connected = nullptr;
  wire.drive(
      [&] {
        // With a host the library would not look at the socket.
        const char* host = address.socket.empty() ? address.host.c_str() : nullptr;
        return mysql_real_connect_start(&connected, handle, host, or_null(address.user),
                                        or_null(address.password), or_null(address.database),
                                        address.port, or_null(address.socket),
                                        CLIENT_FOUND_ROWS | CLIENT_MULTI_STATEMENTS);
      },
      [&](int events) { return mysql_real_connect_cont(&connected, handle, events); });
  if (connected != nullptr) {
    wire.is_connecting_ = false;
    suspend_instead_of_block(mysql_get_socket(handle));
    return wire;
  }
  const Error error = wire.handle_error();
  return fail(error.code, fmt::format("cannot connect to the database at {}: {}", where(address),
                                      error.message));
}

bool Wire::is_late() const { return steady_clock::now() >= deadline_; }

int Wire::socket() const {
  return is_lost_ ? -1 : static_cast<int>(mysql_get_socket(handle_.get()));
}

bool Wire::has_bulk() const {
  unsigned long extended = 0;
  if (mariadb_get_infov(handle_.get(), MARIADB_CONNECTION_EXTENDED_SERVER_CAPABILITIES,
                        &extended) != 0) {
    return false;
  }
  return (extended & (MARIADB_CLIENT_STMT_BULK_OPERATIONS >> 32)) != 0;
}

void Wire::drive(FunctionRef<int()> start, FunctionRef<int(int)> go_on) {
  // What OpenSSL noted of another connection's end would count as this one's: it keeps errors by
  // thread, and the library does not clear them.
  ERR_clear_error();
  int events = start();
  while (events != 0) {
    const int happened = wait_for(events);
    ERR_clear_error();
    events = go_on(happened);
  }
}

int Wire::wait_for(int events) {
  pollfd socket{.fd = mysql_get_socket(handle_.get()), .events = 0, .revents = 0};
  if ((events & MYSQL_WAIT_READ) != 0) socket.events |= POLLIN;
  if ((events & MYSQL_WAIT_WRITE) != 0) socket.events |= POLLOUT;
  if ((events & MYSQL_WAIT_EXCEPT) != 0) socket.events |= POLLPRI;
  for (;;) {
    const auto left =
        std::min<std::int64_t>(time_left(deadline_).count(), std::numeric_limits<int>::max());
    const int ready = poll(&socket, 1, static_cast<int>(left));
    if (ready > 0) break;
    if (ready == 0 && is_late()) {
      was_late_ = true;
      // Under TLS the library would ask again; so there is nothing to be had any more.
      shutdown(socket.fd, SHUT_RDWR);
      return MYSQL_WAIT_TIMEOUT;
    }
    invariant(ready == 0 || errno == EINTR || errno == ENOMEM, "a socket can be waited for");
  }
  int happened = 0;
  // An error or the other side's end shows when it is read.
  if ((socket.revents & (POLLIN | POLLERR | POLLHUP | POLLNVAL)) != 0) happened |= MYSQL_WAIT_READ;
  if ((socket.revents & (POLLOUT | POLLERR | POLLHUP | POLLNVAL)) != 0) {
    happened |= MYSQL_WAIT_WRITE;
  }
  if ((socket.revents & POLLPRI) != 0) happened |= MYSQL_WAIT_EXCEPT;
  return happened;
}

Result<> Wire::run(std::string_view statements, FunctionRef<void(MYSQL_ROW)> on_row) {
  MYSQL* handle = handle_.get();
  int failed = 0;
  drive(
      [&] { return mysql_real_query_start(&failed, handle, statements.data(), statements.size()); },
      [&](int events) { return mysql_real_query_cont(&failed, handle, events); });
  if (failed != 0) return fail(handle_error());
  for (;;) {
    if (Result<> read = read_answer(on_row); !read) return read;
    int more = 0;  // 0 another answer, -1 none, else an error
    drive([&] { return mysql_next_result_start(&more, handle); },
          [&](int events) { return mysql_next_result_cont(&more, handle, events); });
    if (more > 0) return fail(handle_error());
    if (more < 0) return {};
  }
}

Result<> Wire::read_answer(FunctionRef<void(MYSQL_ROW)> on_row) {
  MYSQL* handle = handle_.get();
  if (mysql_field_count(handle) == 0) return {};
  MYSQL_RES* stored = nullptr;
  drive([&] { return mysql_store_result_start(&stored, handle); },
        [&](int events) { return mysql_store_result_cont(&stored, handle, events); });
  const ResultHandle result(stored);
  if (result == nullptr) return fail(handle_error());
  while (MYSQL_ROW row = mysql_fetch_row(result.get())) on_row(row);
  return {};
}

Result<> Wire::commit() {
  my_bool failed = 0;
  drive([&] { return mysql_commit_start(&failed, handle_.get()); },
        [&](int events) { return mysql_commit_cont(&failed, handle_.get(), events); });
  if (failed == 0) return {};
  const bool is_open = leaves_commit_open(mysql_errno(handle_.get()));
  Error error = handle_error();
  if (is_open) {
    error.code = ErrorCode::kInDoubt;
    is_lost_ = true;  // what became of it is asked on another connection
  }
  return fail(std::move(error));
}

void Wire::rollback() {
  my_bool failed = 0;
  drive([&] { return mysql_rollback_start(&failed, handle_.get()); },
        [&](int events) { return mysql_rollback_cont(&failed, handle_.get(), events); });
  if (failed != 0) is_lost_ = true;
}

Result<StatementHandle> Wire::prepare(std::string_view text) {
  StatementHandle statement(mysql_stmt_init(handle_.get()));
  invariant(statement != nullptr, "there is memory for a statement");
  int failed = 0;
  drive(
      [&] { return mysql_stmt_prepare_start(&failed, statement.get(), text.data(), text.size()); },
      [&](int events) { return mysql_stmt_prepare_cont(&failed, statement.get(), events); });
  if (failed != 0) return fail(statement_error(*statement));
  return statement;
}

Result<> Wire::execute(MYSQL_STMT& statement) {
  int failed = 0;
  drive([&] { return mysql_stmt_execute_start(&failed, &statement); },
        [&](int events) { return mysql_stmt_execute_cont(&failed, &statement, events); });
  if (failed != 0) return fail(statement_error(statement));
  if (mysql_stmt_field_count(&statement) == 0) return {};
  drive([&] { return mysql_stmt_store_result_start(&failed, &statement); },
        [&](int events) { return mysql_stmt_store_result_cont(&failed, &statement, events); });
  if (failed != 0) return fail(statement_error(statement));
  return {};
}

Error Wire::handle_error() { return error(mysql_errno(handle_.get()), mysql_error(handle_.get())); }

Error Wire::statement_error(MYSQL_STMT& statement) {
  const unsigned int number = mysql_stmt_errno(&statement);
  return number == 0 ? handle_error() : error(number, mysql_stmt_error(&statement));
}

Error Wire::error(unsigned int number, std::string_view message) {
  if (was_late_) {
    is_lost_ = true;
    return {ErrorCode::kUnavailable,
            "the database did not answer before the deadline; the connection was closed"};
  }
  if (ends_connection(number)) is_lost_ = true;
  return translate(number, message);
}

}  // namespace recourse::sql::mysql
