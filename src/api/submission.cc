#include "api/submission.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/json_slices.h"
#include "base/text.h"
#include "http/base64.h"
#include "task/new_id.h"
#include "task/record.h"

namespace recourse::api {
namespace {

void read_limits(Fields& fields, std::optional<TimePoint> now, task::TaskSpec& spec) {
  if (const auto n = fields.integer("max_retries", 0, task::kRetriesMax)) {
    spec.max_retries = static_cast<int>(*n);
  }
  if (const auto n = fields.integer("priority", 0, task::kPriorityMax)) {
    spec.priority = static_cast<int>(*n);
  }
  if (const auto timeout = fields.duration("timeout", std::chrono::hours(24))) {
    spec.timeout = *timeout;
  }
  if (const auto deadline = fields.time("deadline")) {
    spec.deadline = *deadline;
    if (now && *deadline <= *now) {
      fields.refuse("deadline", "has passed: it would never run; give a later one, or none");
    }
  }
}

void read_names(Fields& fields, task::TaskSpec& spec) {
  if (auto text = fields.text("unique_key")) spec.unique_key = task::UniqueKey(*std::move(text));
  if (auto text = fields.text("shard_key")) spec.shard_key = task::ShardKey(*std::move(text));
  if (auto text = fields.text("trace_parent")) spec.trace_parent = *std::move(text);
  if (auto texts = fields.texts_by_name("headers")) spec.headers = *std::move(texts);
  if (auto texts = fields.texts_by_name("search_keys")) spec.search_keys = *std::move(texts);
}

void read_backoff(Fields& fields, const std::vector<std::string>& known, task::TaskSpec& spec) {
  const std::optional<std::string> name = fields.text("backoff");
  if (!name) return;
  spec.backoff = *name;
  if (std::ranges::find(known, *name) != known.end()) return;
  fields.refuse("backoff",
                fmt::format("is unknown: {}; there are: {}", shown(*name), fmt::join(known, ", ")));
}

}  // namespace

void read_payload(Fields& fields, std::string_view raw, std::size_t bytes_max,
                  std::string& payload) {
  const bool as_json = fields.has("payload");
  const std::optional<std::string> as_base64 = fields.text("payload_base64");
  if (as_json && as_base64) {
    fields.refuse("payload_base64", "cannot be given beside payload");
    return;
  }
  if (as_json) payload = std::string(member_of(raw, "payload").value_or(""));
  if (as_base64) {
    if (std::optional<std::string> bytes = http::from_base64(*as_base64)) {
      payload = *std::move(bytes);
    } else {
      fields.refuse("payload_base64", "is not base 64 with its padding");
    }
  }
  if (payload.size() > bytes_max) {
    fields.refuse(as_base64 ? "payload_base64" : "payload",
                  fmt::format("has {} bytes; at most {} are allowed", payload.size(), bytes_max));
  }
}

std::optional<task::TaskId> read_new_id(Fields& fields, TimePoint now) {
  const auto text = fields.text("id");
  if (!text) return std::nullopt;
  if (const auto id = task::parse_new_task_id("it", *text, now)) return *id;
  fields.refuse("id", task::parse_task_id("it", *text)
                          ? "has a time more than a day ahead of the clock in it: leave it out to "
                            "get one"
                          : "must be a task id such as tsk_01J...; leave it out to get one");
  return std::nullopt;
}

void read_tenant(Fields& fields, const Identity& caller, task::Tenant& of) {
  const std::optional<std::string> tenant = fields.text("tenant");
  if (tenant) of = task::Tenant(*tenant);
  if (!caller.tenant) return;
  if (tenant && of != *caller.tenant) {
    fields.refuse("tenant", "is not the one of your token; leave it out");
  }
  of = *caller.tenant;
}

Submit read_submit(const boost::json::object& object, std::string_view raw, std::string pointer,
                   const SubmitRules& rules, std::vector<FieldError>& errors) {
  const std::size_t before = errors.size();
  Submit submit;
  Fields fields(object, pointer, errors);
  task::TaskSpec& spec = submit.submission.spec;
  spec.kind = task::Kind(fields.required_text("kind"));
  if (rules.defaults) rules.defaults(spec);
  if (const auto id = read_new_id(fields, rules.clock)) {
    submit.submission.id = *id;
    submit.novelty = store::Novelty::kRepeat;
  }
  read_tenant(fields, rules.caller, spec.tenant);
  // Who gives an id may repeat itself.
  read_limits(fields, fields.has("id") ? std::nullopt : rules.now, spec);
  spec.trace_parent = rules.trace_parent;
  read_names(fields, spec);
  read_backoff(fields, rules.backoffs, spec);
  read_payload(fields, raw, rules.payload_bytes_max, spec.payload);
  if (const auto delay = fields.duration("delay", kLongestWait)) submit.submission.delay = *delay;
  fields.refuse_others();
  // What the fields alone do not show.
  if (errors.size() == before) {
    if (const Result<> valid = task::validate(spec); !valid) {
      errors.push_back({std::move(pointer), valid.error().message});
    }
  }
  return submit;
}

}  // namespace recourse::api
