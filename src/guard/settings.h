// What a guard is told of the table it watches, and how patient it is.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace recourse::guard {

struct GuardSettings {
  // Of the kind (`guard.NAME`), in metrics and on the command line. Empty: the table's.
  std::string name = {};
  // Names of a table and its columns, as they stand in the catalog.
  std::string table = {};
  std::string id_field = "id";
  // Empty: rows belong to nobody, and check_user_err is refused.
  std::string user_field = {};
  std::string status_field = {};
  // As the column's own type reads them: SUCCESS, or 1.
  std::string success_value = {};
  std::string fail_value = {};
  // For people, in any language; the filter of the list.
  std::string service_name = {};
  // POST here ends a case by a person's hand. Empty: no such route.
  std::string manual_success_route = {};

  Duration min_interval = std::chrono::minutes(1);
  // From the first error; then a person has to look.
  Duration timeout_window = std::chrono::hours(1);
  int max_retries = 5;
  Duration remind_every = std::chrono::minutes(30);

  Duration scan_every = std::chrono::seconds(60);
  // Of one run of check, handle and check.
  Duration attempt_timeout = std::chrono::seconds(10);
  // In which the table keeps its times, such as Asia/Shanghai. Empty: the database's own.
  std::string time_zone = {};
};

// [A-Za-z_][A-Za-z0-9_]{0,62}: what a table or a column may be called.
bool is_identifier(std::string_view text);

// An empty name becomes the table's, an empty service name the guard's.
GuardSettings named(GuardSettings settings);

// A table's nine columns are one error's. Guards that each heal another failure of one status can
// have them in turn; what one by another status heals, the other would still have to.
bool may_share_table(const GuardSettings& one, const GuardSettings& other);
// The same of two in one place, as an error that says what to do.
Result<> check_neighbours(const GuardSettings& one, const GuardSettings& other);
// By field name, all of them at once.
Result<> validate(const GuardSettings& settings);

}  // namespace recourse::guard
