// The degrade door: its kinds, and what is tried and recorded.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/field_checks.h"
#include "base/text.h"
#include "degrade/cleaning.h"
#include "degrade/log_lines.h"
#include "embed/degrade_impl.h"
#include "task/new_id.h"

namespace recourse {
namespace {

degrade::DownstreamSettings downstream_settings(const DegradeOptions& options) {
  degrade::DownstreamSettings settings;
  settings.limit = options.limit;
  settings.threads = options.threads_per_kind;
  settings.breaker.window_calls = options.breaker_calls;
  settings.breaker.min_calls = options.breaker_min_calls;
  settings.breaker.failure_ratio = options.breaker_failure_ratio;
  settings.breaker.open_for = options.breaker_open_for;
  return settings;
}

degrade::RetryPreset retry_preset(const DegradeOptions& options) {
  return {.max_retries = options.max_retries,
          .first_after = options.first_retry_after,
          .timeout = options.retry_timeout};
}

Result<> check(const DegradeOptions& options) {
  using namespace std::chrono_literals;
  if (Result<> valid = validate(downstream_settings(options)); !valid) return valid;
  if (Result<> valid = validate(retry_preset(options)); !valid) return valid;
  return FieldChecks("degrade")
      .between<Duration>("store_patience", options.store_patience, 1ms, 1min)
      .between<Duration>("clean_after", options.clean_after, 1h, kLongestWait)
      .result();
}

Result<std::unique_ptr<degrade::Spool>> open_spool(const DegradeOptions& options) {
  if (options.spool.empty()) return std::unique_ptr<degrade::Spool>();
  degrade::SpoolSettings settings;
  settings.directory = options.spool;
  settings.bytes_max = options.spool_bytes;
  settings.segment_bytes = std::min(settings.segment_bytes, settings.bytes_max);
  return degrade::Spool::open(settings);
}

}  // namespace

Degrade::Degrade(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Degrade::~Degrade() = default;
Degrade::Degrade(Degrade&&) noexcept = default;
Degrade& Degrade::operator=(Degrade&&) noexcept = default;

Degrade::Impl::Impl(Engine::Impl& on, const DegradeOptions& given,
                    std::unique_ptr<degrade::Spool> spool)
    : engine(on),
      options(given),
      retries(retry_preset(given)),
      recorder(
          {.node = *on.node, .reader = on.store.opened->reader(), .clock = on.clock, .log = on.log},
          std::move(spool), given.store_patience) {}

Result<Degrade> Degrade::on(Engine& engine, const DegradeOptions& options) {
  Engine::Impl& impl = *engine.impl_;
  if (impl.started) {
    return fail(ErrorCode::kInvalid, "the degrade door is opened before the engine starts");
  }
  if (std::exchange(impl.has_degrade, true)) {
    return fail(ErrorCode::kInvalid, "this engine has a degrade door already");
  }
  if (Result<> valid = check(options); !valid) return fail(valid.error());
  auto spool = open_spool(options);
  if (!spool) return fail(spool.error());
  if (!options.clean_when.empty()) {
    impl.register_later(
        degrade::kCleanKind, {},
        degrade::cleaning_handler(*impl.store.opened, impl.clock, impl.log, options.clean_after),
        nullptr);
  }
  return Degrade(std::make_unique<Impl>(impl, options, *std::move(spool)));
}

KindOptions Degrade::preset() {
  const policy::BackoffSettings backoff = degrade::preset_backoff();
  KindOptions options;
  options.backoff_base = backoff.base;
  options.backoff_max = backoff.max;
  return options;
}

bool Degrade::Impl::add_kind(std::string_view kind) {
  if (!engine.may_register(kind)) return false;
  std::string name(kind);
  const auto refuse = [&](std::string_view why) {
    engine.note(fail(ErrorCode::kInvalid, fmt::format("degrade kind {} {}", shown(kind), why)));
    return false;
  };
  if (name.empty() || name.ends_with('*')) {
    return refuse("must be a whole name: failures are listed and counted by it");
  }
  if (!engine.degrade_kinds.insert(task::Kind(name)).second) return refuse("was given twice");
  kinds.emplace_back(name);
  downstreams[name] = std::make_unique<degrade::Downstream>(name, downstream_settings(options),
                                                            engine.clock, engine.log);
  return true;
}

Degrade& Degrade::know(std::string_view kind) {
  if (!impl_->add_kind(kind) || impl_->options.clean_when.empty()) return *this;
  impl_->engine.registrations.emplace_back([node = impl_->engine.node.get(),
                                            of = task::Kind(std::string(kind)),
                                            when = impl_->options.clean_when] {
    auto made = degrade::cleaning_schedule(of, when);
    return made ? node->schedule(*std::move(made)) : fail(made.error());
  });
  return *this;
}

Degrade& Degrade::handle_bytes(std::string_view kind, Handler handler, const KindOptions& options,
                               const Probe& probe) {
  know(kind);
  Engine::Impl& engine = impl_->engine;
  if (!engine.may_register(kind)) return *this;
  engine::KindRules rules;
  rules.settings = embed::kind_settings(options);
  degrade::count_from_inline_call(rules);
  engine.register_later(
      kind, std::move(rules),
      degrade::announcing_retries(
          embed::wrap(std::move(handler), engine.middleware, engine.answering), engine.log),
      embed::wrap(probe, engine.answering));
  return *this;
}

Result<degrade::Downstream*> Degrade::Impl::downstream_of(std::string_view kind) {
  const auto found = downstreams.find(kind);
  if (found != downstreams.end()) return found->second.get();
  return fail(ErrorCode::kInvalid,
              fmt::format("failure.kind {} is no degrade kind here: give it to handle or know of "
                          "the degrade door before the engine starts",
                          shown(kind)));
}

Result<degrade::Failure> Degrade::Impl::failure_of(std::string_view kind, std::string_view payload,
                                                   const DegradeKeys& keys,
                                                   std::string_view reason) {
  degrade::Failure failure{.kind = task::Kind(std::string(kind)),
                           .tenant = task::Tenant(keys.tenant),
                           .payload = std::string(payload),
                           .trace_parent = {},
                           .member = keys.member,
                           .related_id = keys.related_id,
                           .type = keys.type,
                           .remark = keys.remark,
                           .amount = keys.amount,
                           .expires_at = keys.expires_at,
                           .reason = std::string(reason)};
  if (Result<> valid = validate(failure); !valid) return fail(valid.error());
  return failure;
}

Result<> Degrade::Impl::record(task::TaskId id, const degrade::Failure& failure,
                               store::Novelty novelty, bool was_tried) {
  const auto done = recorder.record(degrade::submission_of(id, failure, retries), novelty);
  if (!done) return fail(done.error());
  if (!done->is_repeated) degrade::log_failure(engine.log, id, failure, was_tried, done->where);
  return {};
}

Result<Degrade::Tried> Degrade::try_it(std::string_view kind, std::string_view payload,
                                       const DegradeKeys& keys,
                                       std::function<Result<>(const InlineCall&)> action) {
  const auto downstream = impl_->downstream_of(kind);
  if (!downstream) return fail(downstream.error());
  // Checked before anything is called: what cannot be recorded later must not fail only then.
  Result<degrade::Failure> failure = impl_->failure_of(kind, payload, keys, "");
  if (!failure) return fail(failure.error());
  const task::TaskId id(impl_->engine.ids.next());
  Tried tried{.degraded = false, .id = task::to_string(id), .reason = {}};
  degrade::InlineAction call = [action = std::move(action),
                                name = tried.id](const std::stop_token& stop) {
    return action(InlineCall(name, stop));
  };
  degrade::Downstream::Answer answer = (*downstream)->call(call);
  if (answer.failure.empty()) return tried;
  failure->reason = one_line(answer.failure, degrade::kReasonCharactersMax);
  tried.degraded = true;
  tried.reason = failure->reason;
  const Result<> recorded = impl_->record(id, *failure, store::Novelty::kFresh, answer.was_tried);
  // The probe is owed to the breaker, whatever became of the record.
  if (answer.probe) (*downstream)->probe(std::move(call), *answer.probe);
  if (!recorded) return fail(recorded.error());
  return tried;
}

Result<std::string> Degrade::Impl::record_caught(task::TaskId id, store::Novelty novelty,
                                                 std::string_view kind, std::string_view payload,
                                                 const DegradeKeys& keys, std::string_view reason) {
  if (auto known = downstream_of(kind); !known) return fail(known.error());
  const auto failure = failure_of(kind, payload, keys, reason);
  if (!failure) return fail(failure.error());
  if (Result<> recorded = record(id, *failure, novelty, true); !recorded) {
    return fail(recorded.error());
  }
  return task::to_string(id);
}

Result<std::string> Degrade::record_failure(std::string_view kind, std::string_view payload,
                                            const DegradeKeys& keys, std::string_view reason) {
  return impl_->record_caught(task::TaskId(impl_->engine.ids.next()), store::Novelty::kFresh, kind,
                              payload, keys, reason);
}

Result<std::string> Degrade::record_failure(std::string_view kind, std::string_view payload,
                                            const DegradeKeys& keys, std::string_view reason,
                                            std::string_view id) {
  const Result<task::TaskId> parsed = task::parse_new_task_id("id", id, impl_->engine.clock.now());
  if (!parsed) return fail(parsed.error());
  return impl_->record_caught(*parsed, store::Novelty::kRepeat, kind, payload, keys, reason);
}

}  // namespace recourse
