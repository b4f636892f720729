// MariaDB and MySQL behind sql::Connection, on libmariadb, whose names end in this folder.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"
#include "sql/connection.h"

// libmariadb's own declaration.
struct st_mysql;  // NOLINT(readability-identifier-naming)

namespace recourse::sql::mysql {

// What answers at the other end, as asked once per connection.
struct Server {
  std::string version;
  bool is_mariadb = false;
  // Several writable nodes lose updates under READ COMMITTED: somebody should warn.
  bool is_galera = false;
  // Many rows of values in one message; MySQL has nothing like it.
  bool has_bulk = false;
  // The longest message that it takes, in bytes.
  std::size_t message_max = 0;
};

class Session : public Connection {
 public:
  [[nodiscard]] virtual const Server& server() const = 0;
  // libmariadb's own handle, within the open transaction. Nothing else may be called until it is
  // taken back; then the transaction must still be open.
  virtual Result<st_mysql*> lend() = 0;
  virtual Result<> take_back() = 0;
};

// `url` is mysql://user:password@host:port/database or mariadb://..., percent-encoded, with
//   ?socket=/path     instead of host and port
//   ?tls=on           encrypted, and the server's certificate is verified
//   ?tls=unverified   encrypted only
//   ?tls_ca=/path     whom to trust instead of the system's authorities
// Without a database nothing but creating one makes sense. No error shows the password. The
// deadline stays until set_deadline; resolving a host name is the one step that it does not bound,
// the resolver's own time-outs do.
//
// Every session runs READ COMMITTED, in UTC, with strict SQL, and counts found rows, not changed
// ones. begin() costs no round trip. After a statement of a transaction failed, the transaction can
// only be rolled back: commit() and further statements repeat the error.
//
// `lock_wait` is how long a statement waits for a row's lock where its transaction has not said
// otherwise, in whole seconds.
inline constexpr std::chrono::seconds kLockWait{30};
Result<std::unique_ptr<Session>> connect(const std::string& url, Deadline deadline,
                                         std::chrono::seconds lock_wait = kLockWait);

}  // namespace recourse::sql::mysql
