#include "store/postgres/guest.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "sql/postgres/connect.h"
#include "sql/postgres/lent_connection.h"
#include "store/create_rules.h"
#include "store/postgres/creating.h"
#include "store/postgres/lent.h"
#include "store/postgres/lent_words.h"
#include "store/postgres/schema.h"
#include "store/postgres/transaction.h"
#include "store/relational/connection_guest.h"
#include "store/relational/creating.h"

namespace recourse::store::postgres {
namespace {

// How long a create waits for a guest's connection that others have before it looks at its key
// without one: where hanging works have them all, an answer that is there is replayed all the same.
// A connection that is made has the call's whole time: given up early, and tried again by every
// call, it is what a busy server is busy with.
constexpr Duration kGuestPatience = std::chrono::milliseconds(50);

relational::GuestWords words() {
  return {.dialect = kDialect,
          .keys = kLentWords,
          .schema = static_cast<std::int64_t>(migrations().size())};
}

class PooledGuest final : public relational::ConnectionGuest {
 public:
  explicit PooledGuest(sql::postgres::PostgresConnection& connection)
      : ConnectionGuest(connection, words()), connection_(connection) {}

  Result<pg_conn*> postgres() override {
    if (Result<> here = ready(); !here) return fail(here.error());
    auto lent = connection_.lend();
    is_lent_ = lent.has_value();
    return lent;
  }

 protected:
  Result<> ready() override {
    return std::exchange(is_lent_, false) ? connection_.take_back() : Result<>();
  }
  // On its way together with the commit: where it finds no row it divides by zero, and the commit
  // is none.
  Result<> mark_with_commit(const CreateHold& hold, const CreateEnd& end) override {
    static const std::string statement = "WITH marked AS (" +
                                         std::string(relational::kMarkCreation) +
                                         " RETURNING 1) SELECT 1 / count(*) FROM marked";
    // The session plans as users want it. Of a young table it would remember that it is small, and
    // read all of it for each mark however large it has become.
    if (Result<> set = connection_.execute_later("SET LOCAL enable_seqscan = off", 0, {}); !set) {
      return set;
    }
    relational::Values values;
    relational::add_mark(values, hold, end);
    return connection_.execute_later(statement, values.view().size(), values.view());
  }

 private:
  sql::postgres::PostgresConnection& connection_;
  bool is_lent_ = false;
};

class LentGuest final : public relational::ConnectionGuest {
 public:
  LentGuest(sql::postgres::LentConnection connection, pg_conn* lent)
      : LentGuest(std::make_unique<sql::postgres::LentConnection>(std::move(connection)), lent) {}

  Result<InsertAnswer> submit(std::span<const Submission> batch) override {
    return submit_on(lent_, batch);
  }
  Result<pg_conn*> postgres() override { return lent_; }

 private:
  LentGuest(std::unique_ptr<sql::postgres::LentConnection> connection, pg_conn* lent)
      : ConnectionGuest(*connection, words()), owned_(std::move(connection)), lent_(lent) {}

  std::unique_ptr<sql::postgres::LentConnection> owned_;
  pg_conn* lent_;
};

}  // namespace

PostgresCreates::PostgresCreates(relational::PooledBackend& backend, const std::string& url,
                                 std::size_t guests)
    : PooledCreates(
          backend,
          [url](sql::Deadline deadline) -> Result<std::unique_ptr<sql::Connection>> {
            return sql::postgres::connect(url, deadline, {.plans_for_us = false});
          },
          guests),
      backend_(backend) {}

Result<Acquired> PostgresCreates::create(const CreateAsk& ask, Duration within, CreateWork work) {
  const auto begun = std::chrono::steady_clock::now();
  if (check(ask)) {
    Result<sql::Pool::Loan> guest = borrow(begun + within, begun + kGuestPatience);
    if (guest) {
      const auto fresh = take_on(*guest, ask, begun + within);
      if (fresh) return create_held(*guest, *fresh, begun + ask.lock_ttl, work);
    }
  }
  // What the key stands for, and errors, are told by the common way.
  return PooledCreates::create(ask, within, work);
}

std::optional<Creation> PostgresCreates::take_on(sql::Pool::Loan& guest, const CreateAsk& ask,
                                                 sql::Deadline deadline) {
  guest.connection().set_deadline(deadline);
  const auto inserted = insert_creation(guest.connection(), ask, Flush::kWithWork);
  return inserted ? *inserted : std::nullopt;
}

Result<Acquired> PostgresCreates::take(const CreateAsk& ask, Duration within) {
  if (Result<> valid = check(ask); !valid) return fail(valid.error());
  std::optional<Creation> fresh;
  const Result<> asked = backend_.ask(within, [&](sql::Connection& connection) -> Result<> {
    auto inserted = insert_creation(connection, ask, Flush::kAtOnce);
    if (!inserted) return fail(inserted.error());
    fresh = *std::move(inserted);
    return {};
  });
  if (asked && fresh) return Acquired{Acquisition::kAcquired, *std::move(fresh)};
  // It is there, or nobody knows: a closer look tells.
  return PooledCreates::take(ask, within);
}

std::unique_ptr<Guest> PostgresCreates::host(sql::Connection& connection) {
  // The pool opens no other kind.
  return std::make_unique<PooledGuest>(static_cast<sql::postgres::PostgresConnection&>(connection));
}

Result<std::unique_ptr<Guest>> guest_on(pg_conn* lent) {
  auto connection = sql::postgres::LentConnection::on(lent);
  if (!connection) return fail(std::move(connection).error());
  return std::unique_ptr<Guest>(std::make_unique<LentGuest>(*std::move(connection), lent));
}

}  // namespace recourse::store::postgres
