// The degrade door's words on the wire: what comes in, and what records look like.
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <vector>

#include "api/bulk_job.h"
#include "api/desk.h"
#include "degrade/failure.h"
#include "degrade/records.h"

namespace recourse::api {

boost::json::object to_json(const degrade::Record& record);
boost::json::object to_json(const degrade::Summary& summary);

// A failure to be recorded, with what is wrong in `errors`. The id is missing unless one was given.
struct RecordRequest {
  degrade::Failure failure;
  std::optional<task::TaskId> id;
};
RecordRequest read_failure(const boost::json::object& body, const Desk& desk, const Call& call,
                           std::vector<FieldError>& errors);

// `?status=FAILED&member=m-1&...`
degrade::Query read_failure_query(const Desk& desk, const Call& call,
                                  std::vector<FieldError>& errors);

// {"status": "FAILED", "member": "m-1", ..., "limit": 1000, "dry_run": true} as a bulk job, whose
// filter knows one key at a time.
struct RetryMany {
  BulkJob job;
  bool dry_run = false;
};
RetryMany read_retry_many(const boost::json::object& body, const Desk& desk, const Call& call,
                          std::vector<FieldError>& errors);

}  // namespace recourse::api
