#include "embed/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "embed/attempt_access.h"
#include "timing/recurrence.h"

namespace recourse::embed {
namespace {

// The first added is the outermost.
Outcome call_through(const std::vector<Middleware>& middleware, std::size_t depth,
                     const Handler& handler, const Attempt& attempt) {
  if (depth == middleware.size()) return handler(attempt);
  return middleware[depth](attempt,
                           [&] { return call_through(middleware, depth + 1, handler, attempt); });
}

// But for the deadline.
task::TaskSpec spec_of(std::string kind, std::string payload, const SubmitOptions& options) {
  task::TaskSpec spec;
  spec.kind = task::Kind(std::move(kind));
  spec.payload = std::move(payload);
  spec.tenant = task::Tenant(options.tenant);
  spec.shard_key = task::ShardKey(options.shard_key);
  spec.unique_key = task::UniqueKey(options.unique_key);
  spec.priority = options.priority;
  spec.headers = options.headers;
  spec.search_keys = options.search_keys;
  spec.trace_parent = options.trace_parent;
  spec.max_retries = options.max_retries;
  spec.timeout = options.timeout;
  spec.backoff = options.backoff;
  return spec;
}

Result<> check_backoff(const task::TaskSpec& spec, const policy::BackoffRegistry& backoffs) {
  const auto names = backoffs.names();
  if (spec.backoff.empty() || std::ranges::find(names, spec.backoff) != names.end()) return {};
  return fail(ErrorCode::kInvalid, fmt::format("task.backoff \"{}\" is unknown; there are: {}",
                                               spec.backoff, fmt::join(names, ", ")));
}

Result<> route(task::TaskSpec& spec, const Answering& answering) {
  if (!answering.router || !spec.shard_key.value.empty()) return {};
  try {
    spec.shard_key = task::ShardKey(answering.router(
        {.kind = spec.kind.value, .tenant = spec.tenant.value, .payload = spec.payload}));
    return {};
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInvalid, fmt::format("the router failed: {}", error.what()));
  }
}

}  // namespace

engine::KindSettings kind_settings(const KindOptions& options) {
  engine::KindSettings settings;
  settings.concurrency = options.concurrency;
  settings.tenant_max = options.tenant_max;
  settings.cluster_wide = options.cluster_wide;
  settings.backoff = {.strategy = options.backoff,
                      .base = options.backoff_base,
                      .min = options.backoff_min,
                      .max = options.backoff_max,
                      .jitter = policy::Jitter::kRatio,
                      .jitter_ratio = options.jitter};
  if (options.rate) {
    settings.rate = {.per_second = options.rate->per_second, .burst = options.rate->burst};
  }
  settings.breaker_enabled = options.breaker;
  settings.breaker.window_calls = options.breaker_calls;
  settings.breaker.min_calls = options.breaker_min_calls;
  settings.breaker.failure_ratio = options.breaker_failure_ratio;
  settings.breaker.open_for = options.breaker_open_for;
  settings.breaker.probes = options.breaker_probes;
  return settings;
}

Result<NewSubmission> submission_of(Submission asked, const Ulid& new_id, TimePoint now,
                                    const Answering& answering) {
  NewSubmission made_new;
  store::Submission& made = made_new.submission;
  const SubmitOptions& options = asked.options;
  if (options.id.empty()) {
    made.id = task::TaskId(new_id);
  } else {
    const Result<task::TaskId> id = task::parse_task_id("id", options.id);
    if (!id) return fail(id.error());
    made.id = *id;
    made_new.novelty = store::Novelty::kRepeat;
  }
  made.spec = spec_of(std::move(asked.kind), std::move(asked.payload), options);
  if (options.deadline) {
    made.spec.deadline = options.deadline->at;
    if (options.deadline->in) made.spec.deadline = saturating_add(now, *options.deadline->in);
  }
  made.delay = options.delay;
  if (const Result<> routed = route(made.spec, answering); !routed) return fail(routed.error());
  if (const Result<> valid = task::validate(made.spec); !valid) return fail(valid.error());
  if (const Result<> known = check_backoff(made.spec, *answering.backoffs); !known) {
    return fail(known.error());
  }
  return made_new;
}

Result<engine::Schedule> schedule_of(Schedule asked, const policy::BackoffRegistry& backoffs) {
  const auto refuse = [&](std::string_view why) {
    return fail(ErrorCode::kInvalid, fmt::format("schedule {}: {}", shown(asked.name), why));
  };
  const auto when = timing::Recurrence::parse(asked.when);
  if (!when) return refuse(when.error().message);
  const SubmitOptions& options = asked.options;
  if (!options.id.empty()) return refuse("options.id must be empty: each occurrence has its own");
  if (options.deadline && !options.deadline->in) {
    return refuse("options.deadline must count from each submit: write recourse::in(...)");
  }
  engine::Schedule made{.name = asked.name,
                        .when = *when,
                        .spec = spec_of(std::move(asked.kind), std::move(asked.payload), options),
                        .delay = options.delay,
                        .deadline_in = std::nullopt,
                        .catch_up = asked.catch_up};
  if (options.deadline) made.deadline_in = options.deadline->in;
  if (const Result<> known = check_backoff(made.spec, backoffs); !known) {
    return refuse(known.error().message);
  }
  return made;
}

TaskView view_of(const task::Task& task) {
  TaskView view{.id = task::to_string(task.id),
                .kind = task.spec.kind.value,
                .state = std::string(task::to_string(task.state)),
                .payload = task.spec.payload,
                .retries = task.retries,
                .attempts = task.attempts,
                .error_code = {},
                .error = {},
                .created_at = task.created_at,
                .due_at = task.due_at,
                .ended_at = task.ended_at};
  if (task.last_error) {
    view.error_code = task.last_error->code;
    view.error = task.last_error->message;
  }
  return view;
}

Result<TaskIdText> answer_of(const engine::SubmitAnswer& answer) {
  if (answer.result) return task::to_string(answer.task);
  Error error = answer.result.error();
  if (error.code == ErrorCode::kInDoubt) error.message += "; id " + task::to_string(answer.task);
  return fail(std::move(error));
}

engine::Handler wrap(Handler handler, const std::vector<Middleware>& middleware,
                     std::shared_ptr<const Answering> answering) {
  return [handler = std::move(handler), &middleware,
          answering = std::move(answering)](const std::shared_ptr<engine::AttemptRun>& run) {
    const Attempt attempt = detail::AttemptAccess::make(run, answering);
    detail::AttemptAccess::complete(attempt, call_through(middleware, 0, handler, attempt));
  };
}

engine::Handler wrap(AsyncHandler handler, std::shared_ptr<const Answering> answering) {
  return [handler = std::move(handler),
          answering = std::move(answering)](const std::shared_ptr<engine::AttemptRun>& run) {
    handler(detail::AttemptAccess::completion(run, answering));
  };
}

engine::Probe wrap(Probe probe, std::shared_ptr<const Answering> answering) {
  if (!probe) return nullptr;
  return [probe = std::move(probe),
          answering = std::move(answering)](const std::shared_ptr<engine::AttemptRun>& run) {
    const Attempt attempt = detail::AttemptAccess::make(run, answering);
    const Outcome answer = probe(attempt);
    if (answer.kind != OutcomeKind::kDone) return false;
    detail::AttemptAccess::complete(attempt, answer);
    return true;
  };
}

}  // namespace recourse::embed
