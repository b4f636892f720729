// A submit as it comes in, as the store takes it.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "api/access.h"
#include "api/fields.h"
#include "api/problem.h"
#include "store/work.h"

namespace recourse::api {

struct Submit {
  store::Submission submission;
  store::Novelty novelty = store::Novelty::kFresh;
};

// What a reader of submits needs to know.
struct SubmitRules {
  const Identity& caller;
  const std::vector<std::string>& backoffs;
  // For the kind, where the submit does not say.
  std::function<void(task::TaskSpec& spec)> defaults;
  // Empty: deadlines that have passed are taken.
  std::optional<TimePoint> now;
  std::size_t payload_bytes_max = task::kPayloadBytesMax;
  // By which an id may not be of the far future.
  TimePoint clock = {};
  // Of the request itself, where the task has none of its own.
  std::string trace_parent = {};
};

// Parts that other bodies have too. The payload as JSON or in base 64, at most so many bytes...
void read_payload(Fields& fields, std::string_view raw, std::size_t bytes_max,
                  std::string& payload);
// ...the id that the caller gives to it, where it does...
std::optional<task::TaskId> read_new_id(Fields& fields, TimePoint now);
// ...and whose it is: a token of one tenant means that one.
void read_tenant(Fields& fields, const Identity& caller, task::Tenant& of);

// `raw` is the text that `object` was parsed from: the payload is kept as it stands there. Errors
// are added with their pointers; the answer is of use only where there were none. The id is
// missing unless the caller gave one.
Submit read_submit(const boost::json::object& object, std::string_view raw, std::string pointer,
                   const SubmitRules& rules, std::vector<FieldError>& errors);

}  // namespace recourse::api
