// An application beside Recourse, with a connection of its own to its own database: its statements,
// its transactions, its rollbacks.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "recourse/sql.h"
#include "sql/connection.h"

namespace recourse::tests {

// Every error stops the test program. One thread at a time.
class Application {
 public:
  // sqlite:FILE (made where it is missing, with SQLite's own settings), postgres://..., mysql://...
  explicit Application(std::string url);
  ~Application();
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  [[nodiscard]] const std::string& url() const { return url_; }

  void begin();
  void commit();
  void rollback();
  std::int64_t execute(std::string_view statement, const SqlValues& values = {});
  std::vector<SqlRow> query(std::string_view statement, const SqlValues& values = {});
  // The first column of the first row; 0 for NULL.
  std::int64_t number(std::string_view statement, const SqlValues& values = {});
  // The same; empty for NULL.
  std::string text(std::string_view statement, const SqlValues& values = {});

 private:
  const std::string url_;
  std::unique_ptr<sql::Connection> connection_;
};

}  // namespace recourse::tests
