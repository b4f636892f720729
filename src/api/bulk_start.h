// Bulk jobs, for routes that make one of their own words.
#pragma once

#include "api/bulk_job.h"
#include "api/desk.h"
#include "http/message.h"

namespace recourse::api {

// A dry run: how many it would be, counted up to a bound.
http::Response count_bulk(Desk& desk, const BulkPlan& plan);
// 202, with where to look at it.
http::Response start_bulk(Desk& desk, BulkJob job);

}  // namespace recourse::api
