// A large table with some rows stuck, for tests of what a guard costs: 1,000,000 rows with --full.
#pragma once

#include <fmt/format.h>

#include <cstdlib>

#include "tests/guard_table_fixture.h"

namespace recourse::tests {

inline constexpr std::int64_t kStuck = 5'000;

class OnLargeTable : public GuardOnDatabase {
 protected:
  void fill(std::int64_t rows) {
    const std::string columns = "INSERT INTO user_bill (id, user_id, status, amount) ";
    if (is_postgres()) {
      // Statistics come when the test says so, not when a sweeper happens to pass by.
      run("ALTER TABLE user_bill SET (autovacuum_enabled = false)");
      run(fmt::format("{}SELECT g, 'u' || g % 1000, 'SUCCESS', 7 FROM generate_series(1, {}) g",
                      columns, rows));
    } else if (is_mariadb()) {
      run(fmt::format("{}SELECT seq, CONCAT('u', seq % 1000), 'SUCCESS', 7 FROM seq_1_to_{}",
                      columns, rows));
    } else {
      run(
          fmt::format("{}WITH RECURSIVE g(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g WHERE n < "
                      "{}) SELECT n, 'u' || n % 1000, 'SUCCESS', 7 FROM g",
                      columns, rows));
    }
    rows_ = rows;
  }
  // Half of them wait for a retry and half for a person, none of them now.
  void stick() {
    const TimePoint now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
    const guard::WallClock utc{TimeZone()};
    const std::int64_t every = rows_ / kStuck;
    run(
        fmt::format("UPDATE user_bill SET status = 'FAIL', err_status = 4000 + (id / {0}) % 2, "
                    "err_start_time = '{1}', err_timeout = 86400, err_retry_count = 1, "
                    "err_next_retry_time = '{2}', err_next_remind_staff_time = '{2}' "
                    "WHERE id % {0} = 0",
                    every, utc.written(now - 10min), utc.written(now + 1h)));
    ASSERT_EQ(number("SELECT COUNT(*) FROM user_bill WHERE err_status IN (4000, 4001)"), kStuck);
  }
  void gather_statistics() {
    ASSERT_TRUE(application_->run(is_mariadb() ? "ANALYZE TABLE user_bill" : "ANALYZE"));
  }

  std::int64_t rows_ = 0;
};

// The four steps, as the door takes them.
inline void scan(GuardedTable& table) {
  ASSERT_TRUE(table.heal(500, 30s));
  ASSERT_TRUE(table.due(500, 30s));
  ASSERT_TRUE(table.promote(500, 30s));
  ASSERT_TRUE(table.take_reminders(100, 30s, 30s));
}

}  // namespace recourse::tests
