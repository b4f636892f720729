#include "store/mysql/guest.h"

#include <utility>

#include "sql/mysql/connect.h"
#include "sql/mysql/lent_connection.h"
#include "store/mysql/lent.h"
#include "store/mysql/lent_words.h"
#include "store/mysql/schema.h"
#include "store/mysql/transaction.h"
#include "store/relational/connection_guest.h"

namespace recourse::store::mysql {
namespace {

relational::GuestWords words() {
  return {.dialect = kDialect,
          .keys = kLentWords,
          .schema = static_cast<std::int64_t>(migrations().size())};
}

class PooledGuest final : public relational::ConnectionGuest {
 public:
  explicit PooledGuest(sql::mysql::Session& session)
      : ConnectionGuest(session, words()), session_(session) {}

  Result<st_mysql*> mysql() override {
    if (Result<> here = ready(); !here) return fail(here.error());
    auto lent = session_.lend();
    is_lent_ = lent.has_value();
    return lent;
  }

 protected:
  Result<> ready() override {
    return std::exchange(is_lent_, false) ? session_.take_back() : Result<>();
  }

 private:
  sql::mysql::Session& session_;
  bool is_lent_ = false;
};

class LentGuest final : public relational::ConnectionGuest {
 public:
  LentGuest(sql::mysql::LentConnection connection, st_mysql* lent)
      : LentGuest(std::make_unique<sql::mysql::LentConnection>(std::move(connection)), lent) {}

  Result<InsertAnswer> submit(std::span<const Submission> batch) override {
    return submit_on(lent_, batch);
  }
  Result<st_mysql*> mysql() override { return lent_; }

 private:
  LentGuest(std::unique_ptr<sql::mysql::LentConnection> connection, st_mysql* lent)
      : ConnectionGuest(*connection, words()), owned_(std::move(connection)), lent_(lent) {}

  std::unique_ptr<sql::mysql::LentConnection> owned_;
  st_mysql* lent_;
};

}  // namespace

MysqlCreates::MysqlCreates(Backend& backend, const std::string& url, std::size_t guests)
    : PooledCreates(
          backend,
          [url](sql::Deadline deadline) -> Result<std::unique_ptr<sql::Connection>> {
            return sql::mysql::connect(url, deadline);
          },
          guests) {}

std::unique_ptr<Guest> MysqlCreates::host(sql::Connection& connection) {
  // The pool opens no other kind.
  return std::make_unique<PooledGuest>(static_cast<sql::mysql::Session&>(connection));
}

Result<std::unique_ptr<Guest>> guest_on(st_mysql* lent) {
  auto connection = sql::mysql::LentConnection::on(lent);
  if (!connection) return fail(std::move(connection).error());
  return std::unique_ptr<Guest>(std::make_unique<LentGuest>(*std::move(connection), lent));
}

}  // namespace recourse::store::mysql
