// A submit as it comes in, as the store takes it.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "api/access.h"
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
  // Of the request itself, where the task has none of its own.
  std::string trace_parent = {};
};

// `raw` is the text that `object` was parsed from: the payload is kept as it stands there. Errors
// are added with their pointers; the answer is of use only where there were none. The id is
// missing unless the caller gave one.
Submit read_submit(const boost::json::object& object, std::string_view raw, std::string pointer,
                   const SubmitRules& rules, std::vector<FieldError>& errors);

}  // namespace recourse::api
