// Programs that keep their own data beside ours and submit inside their own transactions.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/opened.h"
#include "store/work.h"

namespace recourse::store {

class Caller {
 public:
  virtual ~Caller() = default;

  virtual Result<InsertAnswer> submit(std::span<const Submission> batch) = 0;
  // One statement; false where the database refuses it.
  virtual bool run(const std::string& statement) = 0;
  // The first cell of the answer.
  virtual std::string text(const std::string& statement) = 0;

  std::int64_t number(const std::string& statement) { return std::stoll(text(statement)); }
};

// A database of its own on a server, with our schema in it.
class LentServer {
 public:
  virtual ~LentServer() = default;

  [[nodiscard]] virtual OpenedStore& opened() = 0;
  [[nodiscard]] virtual std::unique_ptr<Caller> new_caller() const = 0;
  // The same, with another encoding; and one on a database where our schema is missing.
  [[nodiscard]] virtual std::unique_ptr<Caller> foreign_caller() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Caller> lost_caller() const = 0;
};

std::unique_ptr<LentServer> lent_postgres();
std::unique_ptr<LentServer> lent_mariadb();

}  // namespace recourse::store
