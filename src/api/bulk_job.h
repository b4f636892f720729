// A wish that concerns many tasks, carried out page by page. It is a record in the store, so that
// every node can show it, and another one goes on where its runner died.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/access.h"
#include "api/control.h"
#include "api/problem.h"
#include "base/result.h"
#include "store/work.h"

namespace recourse::api {

inline constexpr std::size_t kBulkTasksMax = 1'000'000;
inline constexpr std::size_t kBulkErrorsKept = 10;

struct BulkJob {
  std::string id;  // blk_01J...
  Action action = Action::kRetry;
  boost::json::object filter;  // as it was asked for
  std::optional<task::Tenant> tenant;
  std::string by;
  std::string reason;
  std::size_t limit = kBulkTasksMax;
  TimePoint as_of;
  TimePoint beat_at;              // when its runner last wrote it
  std::string state = "running";  // running, done, cancelled, failed
  std::optional<task::TaskId> cursor;
  std::size_t done = 0;
  std::size_t requested = 0;
  std::size_t refused = 0;
  std::vector<std::string> errors;  // the first few
};

boost::json::object to_json(const BulkJob& job);
std::string to_value(const BulkJob& job);
Result<BulkJob> job_of(std::string_view value);

// What the filter means to the store, and how the action is spelled for it; what is wrong is added
// to `errors`.
struct BulkPlan {
  store::Filter filter;
  task::Order order;
};
BulkPlan plan_of(const BulkJob& job, std::vector<FieldError>& errors);

}  // namespace recourse::api
