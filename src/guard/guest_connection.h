// sql::Connection over a guest's statements inside of the store's own transaction.
//
// Thread safety: none; the guest's thread.
#pragma once

#include "sql/connection.h"
#include "store/guest.h"

namespace recourse::guard {

class GuestConnection final : public sql::Connection {
 public:
  explicit GuestConnection(store::Guest& guest) : guest_(guest) {}

  // Of the transaction that there is already.
  void set_deadline(sql::Deadline) override {}
  Result<> set_lock_patience(Duration) override { return {}; }
  Result<> begin() override { return {}; }
  Result<> commit() override { return {}; }
  void rollback() override {}

  Result<std::int64_t> execute(std::string_view statement,
                               std::span<const sql::Value> values) override;
  Result<std::int64_t> execute_many(std::string_view statement, std::size_t columns,
                                    std::span<const sql::Value> values) override;
  Result<> execute_later(std::string_view statement, std::size_t columns,
                         std::span<const sql::Value> values) override;
  Result<> query(std::string_view statement, std::span<const sql::Value> values,
                 sql::OnRow on_row) override;
  Result<> run(std::string_view statement) override;
  [[nodiscard]] bool usable() const override { return true; }

 private:
  store::Guest& guest_;
};

}  // namespace recourse::guard
