// Idempotent creates as a user of the library has them, beside a business table of their own.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "recourse/create.h"
#include "tests/engine_fixture.h"

namespace recourse::tests {

inline std::string table_of(const std::string& store) {
  const std::string bytes = store == "Postgres"  ? "bytea"
                            : store == "Mariadb" ? "VARBINARY(16)"
                                                 : "BLOB";
  return "CREATE TABLE shop_order (id " + bytes +
         " NOT NULL PRIMARY KEY, public_id VARCHAR(40) NOT NULL UNIQUE, idem_key VARCHAR(100) NOT "
         "NULL, amount INT)";
}

inline CreateRequest request_of(std::string key, std::string_view body = R"({"amount": 7})") {
  return {.tenant = 7,
          .business_type = "ORDER_CREATE",
          .resource_type = "ord",
          .key = std::move(key),
          .request_hash = request_hash(body).value()};
}

// An order's row, and its public id as the value.
inline Result<std::string> place(CreateTransaction& own, const NewResource& order,
                                 const std::string& key) {
  const auto placed =
      own.execute("INSERT INTO shop_order (id, public_id, idem_key, amount) VALUES (?, ?, ?, ?)",
                  {order.internal_id, order.public_id, key, std::int64_t{7}});
  if (!placed) return fail(placed.error());
  return order.public_id;
}

class CreateOnStore : public ::testing::TestWithParam<const char*> {
 protected:
  CreateOnStore() : place_(GetParam()), engine_(Engine::open({.store = place_.url()}).value()) {}
  void SetUp() override {
    ASSERT_TRUE(create_.transact(5s, [](CreateTransaction& own) -> Result<> {
      const auto made = own.execute(table_of(GetParam()));
      return made ? Result<>() : fail(made.error());
    }));
  }

  // What it answers, with the work counted.
  Result<Created<std::string>> create(const CreateRequest& request) {
    return create_.run_bytes(request, [&](CreateTransaction& own, const NewResource& order) {
      ++runs_;
      return place(own, order, request.key);
    });
  }
  std::vector<SqlRow> rows(std::string_view statement, const SqlValues& values = {}) {
    std::vector<SqlRow> found;
    const Result<> asked = create_.transact(5s, [&](CreateTransaction& own) -> Result<> {
      auto answer = own.query(statement, values);
      if (!answer) return fail(answer.error());
      found = *std::move(answer);
      return {};
    });
    EXPECT_TRUE(asked) << (asked ? "" : asked.error().message);
    return found;
  }
  std::int64_t number(std::string_view statement) {
    return std::get<std::int64_t>(rows(statement).at(0).at(0));
  }
  std::int64_t orders() { return number("SELECT COUNT(*) FROM shop_order"); }
  std::int64_t keys() { return number("SELECT COUNT(*) FROM recourse_create"); }

  Place place_;
  Engine engine_;
  Create create_{engine_};
  std::atomic<int> runs_ = 0;
  std::string mail_;
};

inline const auto kCreateStores = ::testing::Values("Sqlite", "Postgres", "Mariadb");
inline std::string create_store_name(const ::testing::TestParamInfo<const char*>& one) {
  return one.param;
}

}  // namespace recourse::tests
