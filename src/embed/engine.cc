#include "recourse/engine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <latch>
#include <random>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/ulid_source.h"
#include "embed/callback_log.h"
#include "embed/convert.h"
#include "embed/end_teller.h"
#include "embed/open_store.h"
#include "engine/node.h"
#include "task/control.h"

namespace recourse {
namespace {

constexpr Duration kReadPatience = std::chrono::seconds(10);
// Of submit_async, answered and not called back yet.
constexpr std::size_t kCallbacksMax = 100'000;

std::uint64_t random_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

std::string default_name() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host = {"localhost"};
  return fmt::format("{}:{}", host.data(), getpid());
}

engine::NodeSettings node_settings(const EngineOptions& options, bool exclusive) {
  engine::NodeSettings settings;
  settings.name = options.node.empty() ? default_name() : options.node;
  settings.lease = {.ttl = options.lease_ttl, .renew_ahead = options.renew_ahead};
  settings.scan.period = options.scan_period;
  settings.executor.core_threads = options.core_threads;
  settings.executor.max_threads = options.max_threads;
  settings.executor.queue = options.executor_queue;
  settings.sticky.enable = options.sticky;
  settings.hold.bytes = options.max_held_bytes;
  settings.store_timeout = options.store_timeout;
  settings.shards = {.first = options.shards.first, .last = options.shards.last};
  settings.exclusive_store = exclusive;
  return settings;
}

}  // namespace

struct Engine::Impl {
  explicit Impl(const EngineOptions& options)
      : log(options.log),
        answering(std::make_shared<embed::Answering>(
            backoffs, [] { return SystemClock().now(); }, options.router)) {}
  // Nobody is told anything while what they would use is on its way out.
  ~Impl() {
    if (node) (void)node->stop(Duration::zero());
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  SystemClock clock;
  embed::CallbackLog log;
  UlidSource ids{clock, random_seed()};
  embed::NamedStore store;
  std::shared_ptr<policy::BackoffRegistry> backoffs = std::make_shared<policy::BackoffRegistry>();
  std::shared_ptr<const embed::Answering> answering;
  std::vector<Middleware> middleware;
  // The first thing that was wrong before start().
  std::optional<Error> wrong;
  std::vector<std::function<Result<>()>> registrations;
  std::unique_ptr<engine::Node> node;
  // After the node: what they still call may use it, stopped as it is.
  std::unique_ptr<embed::EndTeller> ends;
  // Answers of submit_async, in their order.
  std::atomic<std::size_t> callbacks_out = 0;
  engine::Executor callbacks{
      {.core_threads = 1, .max_threads = 1, .rejection = engine::Rejection::kHandBack}};
  std::atomic<bool> started = false;

  // False: too late, and said so.
  bool may_register(std::string_view what) {
    if (!started) return true;
    log.error("registered_too_late", {{"what", std::string(what)}});
    return false;
  }

  void note(Result<> result) {
    if (!result && !wrong) wrong = std::move(result).error();
  }

  // At start(), when all backoffs are known.
  void register_later(std::string_view kind, engine::KindSettings settings, engine::Handler handler,
                      engine::Probe probe) {
    registrations.emplace_back([this, kind = std::string(kind), settings = std::move(settings),
                                handler = std::move(handler), probe = std::move(probe)] {
      engine::KindRules rules;
      rules.settings = settings;
      rules.backoffs = backoffs;
      return node->handle(kind, std::move(rules), handler, probe);
    });
  }

  Result<embed::NewSubmission> submission_of(Submission asked) {
    return embed::submission_of(std::move(asked), ids.next(), clock.now(), *answering);
  }

  Result<std::string> control(std::string_view id, task::Move move, std::string_view by) {
    const Result<task::TaskId> parsed = task::parse_task_id("id", id);
    if (!parsed) return fail(parsed.error());
    auto answer = store.opened->store().control(
        std::vector{*parsed}, {.move = move, .payload = std::nullopt, .deadline = std::nullopt}, by,
        kReadPatience);
    if (!answer) return fail(answer.error());
    const Result<task::Effect>& effect = answer->items.front().effect;
    if (!effect) return fail(effect.error());
    tell_owners();
    return *effect == task::Effect::kDone ? "done" : "requested";
  }

  void call_back(std::function<void(Result<TaskIdText>)> call, Result<TaskIdText> result) {
    callbacks.run([this, call = std::move(call), result = std::move(result)] {
      --callbacks_out;
      try {
        call(result);
      } catch (...) {
        log.error("submit_callback_threw");
      }
    });
  }

  // What was asked for may concern any node.
  void tell_owners() {
    node->hint_requests();
    node->hint_work();
    if (started) node->hint_others(store::Hint::kRequest);
  }

  Result<> pause_kind(std::string_view kind, bool paused, std::string_view by) {
    auto done =
        store.opened->store().pause_kind(task::Kind(std::string(kind)), paused, by, kReadPatience);
    if (!done) return fail(done.error());
    tell_owners();
    return {};
  }
};

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

Result<Engine> Engine::open(const EngineOptions& options) {
  auto impl = std::make_unique<Impl>(options);
  engine::NodeSettings settings = node_settings(options, false);
  if (Result<> valid = validate(settings); !valid) return fail(valid.error());
  // One for each call that may be out at once: claims, notes and what concerns other nodes besides.
  const auto connections =
      static_cast<std::size_t>(settings.ingest.calls + settings.apply_calls + 3);
  auto store = embed::open_store(options.store, impl->clock, impl->log, connections);
  if (!store) return fail(store.error());
  impl->store = *std::move(store);
  settings.exclusive_store = impl->store.exclusive;
  impl->node = std::make_unique<engine::Node>(*impl->store.opened, impl->clock, impl->log,
                                              std::move(settings), random_seed());
  return Engine(std::move(impl));
}

Engine& Engine::handle_bytes(std::string_view kind, Handler handler, const KindOptions& options,
                             Probe probe) {
  if (!impl_->may_register(kind)) return *this;
  impl_->register_later(kind, embed::kind_settings(options),
                        embed::wrap(std::move(handler), impl_->middleware, impl_->answering),
                        embed::wrap(std::move(probe), impl_->answering));
  return *this;
}

Engine& Engine::handle_async(std::string_view kind, AsyncHandler handler,
                             const KindOptions& options) {
  if (!impl_->may_register(kind)) return *this;
  engine::KindSettings settings = embed::kind_settings(options);
  settings.asynchronous = true;
  impl_->register_later(kind, std::move(settings),
                        embed::wrap(std::move(handler), impl_->answering), nullptr);
  return *this;
}

Engine& Engine::around(Middleware middleware) {
  if (impl_->may_register("middleware")) impl_->middleware.push_back(std::move(middleware));
  return *this;
}

Engine& Engine::add_backoff(std::string name,
                            std::function<Duration(Duration base, int retry)> curve) {
  if (!impl_->may_register(name)) return *this;
  // It is asked on the engine's own thread, which nothing that a user throws may end.
  auto guarded = [curve = std::move(curve), name](Duration base, int retry) {
    try {
      return curve(base, retry);
    } catch (...) {
      return base;
    }
  };
  impl_->note(impl_->backoffs->add(std::move(name), std::move(guarded)));
  return *this;
}

Engine& Engine::refuse(const Error& error) {
  impl_->note(fail(error));
  return *this;
}

Engine& Engine::schedule(Schedule schedule) {
  if (!impl_->may_register(schedule.name)) return *this;
  impl_->registrations.emplace_back([impl = impl_.get(), asked = std::move(schedule)] {
    auto made = embed::schedule_of(asked, *impl->backoffs);
    return made ? impl->node->schedule(*std::move(made)) : fail(made.error());
  });
  return *this;
}

Engine& Engine::on_end(std::function<void(const Ended&)> call) {
  if (!impl_->may_register("on_end")) return *this;
  if (impl_->ends) {
    impl_->note(fail(ErrorCode::kInvalid, "on_end was given already: an engine has one"));
    return *this;
  }
  impl_->ends = std::make_unique<embed::EndTeller>(std::move(call));
  impl_->node->listen([ends = impl_->ends.get()](const engine::Happening& happening) {
    if (auto ended = embed::ended_of(happening)) ends->tell(*std::move(ended));
  });
  return *this;
}

Result<> Engine::start() {
  for (const auto& registration : std::exchange(impl_->registrations, {})) {
    impl_->note(registration());
  }
  if (impl_->wrong) return fail(*impl_->wrong);
  Result<> started = impl_->node->start();
  impl_->started = started.has_value();
  return started;
}

Result<TaskIdText> Engine::submit_bytes(std::string_view kind, std::string payload,
                                        const SubmitOptions& options) {
  auto submission = impl_->submission_of(
      {.kind = std::string(kind), .payload = std::move(payload), .options = options});
  if (!submission) return fail(submission.error());
  return embed::answer_of(
      impl_->node->submit(std::move(submission->submission), submission->novelty));
}

std::vector<Result<TaskIdText>> Engine::submit_all(std::vector<Submission> batch) {
  struct Item final : engine::SubmitWaiter {
    void answered(const engine::SubmitAnswer& answer) override {
      *result = embed::answer_of(answer);
      left->count_down();
    }
    Result<TaskIdText>* result = nullptr;
    std::latch* left = nullptr;
  };
  std::vector<Result<TaskIdText>> results(batch.size());
  std::latch left(static_cast<std::ptrdiff_t>(batch.size()));
  std::vector<Item> items(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    auto submission = impl_->submission_of(std::move(batch[i]));
    if (!submission) {
      results[i] = fail(submission.error());
      left.count_down();
      continue;
    }
    items[i].result = &results[i];
    items[i].left = &left;
    impl_->node->submit(std::move(submission->submission), submission->novelty, items[i]);
  }
  left.wait();
  return results;
}

void Engine::submit_async(Submission submission, std::function<void(Result<TaskIdText>)> answered) {
  class Later final : public engine::SubmitWaiter {
   public:
    Later(std::function<void(Result<TaskIdText>)> call, Impl& impl)
        : call_(std::move(call)), impl_(impl) {}
    void answered(const engine::SubmitAnswer& answer) override {
      const std::unique_ptr<Later> self(this);
      impl_.call_back(std::move(call_), embed::answer_of(answer));
    }

   private:
    std::function<void(Result<TaskIdText>)> call_;
    Impl& impl_;
  };
  if (impl_->callbacks_out >= kCallbacksMax) {
    answered(fail(ErrorCode::kExhausted,
                  "too many answers wait to be called back: let the callbacks return sooner"));
    return;
  }
  ++impl_->callbacks_out;
  auto made = impl_->submission_of(std::move(submission));
  if (!made) {
    impl_->call_back(std::move(answered), fail(made.error()));
    return;
  }
  // Gone when it has been answered, which happens exactly once.
  impl_->node->submit(std::move(made->submission), made->novelty,
                      *std::make_unique<Later>(std::move(answered), *impl_).release());
}

std::string Engine::new_id() { return task::to_string(task::TaskId(impl_->ids.next())); }

Result<TaskView> Engine::find(std::string_view id) {
  const Result<task::TaskId> parsed = task::parse_task_id("id", id);
  if (!parsed) return fail(parsed.error());
  const auto task = impl_->store.opened->reader().find(*parsed, kReadPatience);
  if (!task) return fail(task.error());
  return embed::view_of(*task);
}

Result<std::vector<NoteView>> Engine::notes(std::string_view id) {
  return embed::notes_of(impl_->store.opened->reader(), id, kReadPatience);
}

Result<std::string> Engine::cancel(std::string_view id, std::string_view by) {
  return impl_->control(id, task::Move::kCancel, by);
}
Result<std::string> Engine::pause(std::string_view id, std::string_view by) {
  return impl_->control(id, task::Move::kPause, by);
}
Result<std::string> Engine::resume(std::string_view id, std::string_view by) {
  return impl_->control(id, task::Move::kResume, by);
}
Result<std::string> Engine::retry_now(std::string_view id, std::string_view by) {
  const Result<TaskView> task = find(id);
  if (!task) return fail(task.error());
  const bool ended = task->state == "dead" || task->state == "failed";
  return impl_->control(id, ended ? task::Move::kReopen : task::Move::kRetryNow, by);
}
Result<std::string> Engine::resolve(std::string_view id, std::string_view by) {
  return impl_->control(id, task::Move::kResolve, by);
}
Result<std::string> Engine::ignore(std::string_view id, std::string_view by) {
  return impl_->control(id, task::Move::kIgnore, by);
}
Result<> Engine::pause_kind(std::string_view kind, std::string_view by) {
  return impl_->pause_kind(kind, true, by);
}
Result<> Engine::resume_kind(std::string_view kind, std::string_view by) {
  return impl_->pause_kind(kind, false, by);
}

Result<std::map<std::pair<std::string, std::string>, std::int64_t>> Engine::counts() {
  const auto counts = impl_->store.opened->reader().counts(kReadPatience);
  if (!counts) return fail(counts.error());
  std::map<std::pair<std::string, std::string>, std::int64_t> named;
  for (const auto& [key, count] : *counts) {
    named[{key.first.value, std::string(task::to_string(key.second))}] = count;
  }
  return named;
}

StopReport Engine::stop(Duration limit) {
  const auto begun = std::chrono::steady_clock::now();
  const engine::Stopped stopped = impl_->node->stop(limit);
  const auto took = std::chrono::steady_clock::now() - begun;
  if (impl_->ends) impl_->ends->wait(limit - std::chrono::duration_cast<Duration>(took));
  return {.released = stopped.released, .finished = stopped.finished, .cut_off = stopped.cut_off};
}

}  // namespace recourse
