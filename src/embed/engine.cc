// An engine's life: opening, registering, starting, stopping.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/process_name.h"
#include "embed/engine_impl.h"

namespace recourse {
namespace {

// What people are still to be told when an engine stops.
constexpr Duration kMessagesEndWithin = std::chrono::seconds(5);

engine::NodeSettings node_settings(const EngineOptions& options, bool exclusive) {
  engine::NodeSettings settings;
  settings.name = options.node.empty() ? process_name() : options.node;
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
  impl->store_url = options.store;
  settings.exclusive_store = impl->store.exclusive;
  impl->name = settings.name;
  impl->node = std::make_unique<engine::Node>(*impl->store.opened, impl->clock, impl->log,
                                              std::move(settings), embed::random_seed());
  return Engine(std::move(impl));
}

Engine& Engine::handle_bytes(std::string_view kind, Handler handler, const KindOptions& options,
                             Probe probe) {
  if (!impl_->may_register(kind)) return *this;
  engine::KindRules rules;
  rules.settings = embed::kind_settings(options);
  impl_->register_later(kind, std::move(rules),
                        embed::wrap(std::move(handler), impl_->middleware, impl_->answering),
                        embed::wrap(std::move(probe), impl_->answering));
  return *this;
}

Engine& Engine::handle_async(std::string_view kind, AsyncHandler handler,
                             const KindOptions& options) {
  if (!impl_->may_register(kind)) return *this;
  engine::KindRules rules;
  rules.settings = embed::kind_settings(options);
  rules.settings.asynchronous = true;
  impl_->register_later(kind, std::move(rules), embed::wrap(std::move(handler), impl_->answering),
                        nullptr);
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
  auto guarded = [curve = std::move(curve)](Duration base, int retry) {
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
  return *this;
}

Engine& Engine::notify(const NotificationOptions& options) {
  if (!impl_->may_register("notify")) return *this;
  if (impl_->telling) {
    impl_->note(fail(ErrorCode::kInvalid, "notify was given already: an engine has one"));
    return *this;
  }
  auto made = embed::make_telling(options,
                                  {.cases = impl_->store.opened->cases(),
                                   .ids = impl_->ids,
                                   .clock = impl_->clock,
                                   .log = impl_->log},
                                  impl_->name);
  if (!made) return refuse(made.error());
  impl_->telling = *std::move(made);
  return *this;
}

Result<> Engine::start() {
  for (const auto& registration : std::exchange(impl_->registrations, {})) {
    impl_->note(registration());
  }
  if (impl_->messages) impl_->note(impl_->messages->check());
  if (impl_->wrong) return fail(*impl_->wrong);
  impl_->node->listen([impl = impl_.get(), ends = impl_->ends.get(),
                       telling = impl_->telling.get()](const engine::Happening& happening) {
    impl->log_for_doors(happening);
    if (telling != nullptr) telling->happened(happening);
    if (ends == nullptr) return;
    if (auto ended = embed::ended_of(happening)) ends->tell(*std::move(ended));
  });
  Result<> started = impl_->node->start();
  impl_->started = started.has_value();
  if (started && impl_->telling) impl_->telling->begin();
  if (started && impl_->guards) impl_->guards->start();
  if (started && impl_->messages) impl_->messages->start();
  return started;
}

StopReport Engine::stop(Duration limit) {
  const auto begun = std::chrono::steady_clock::now();
  const auto left = [&] {
    const auto took = std::chrono::steady_clock::now() - begun;
    return std::max<Duration>(limit - std::chrono::duration_cast<Duration>(took), Duration::zero());
  };
  if (impl_->guards) impl_->guards->close();
  // First: what they are at is recorded, and what they are not at stays with its broker.
  // Half of the time at most, so that a handler that does not end leaves some to the node's.
  if (impl_->messages) impl_->messages->stop(limit / 2);
  const engine::Stopped stopped = impl_->node->stop(left());
  if (impl_->telling) impl_->telling->stop(std::min(left(), kMessagesEndWithin));
  // After those who tell people: what they were told belongs into the rows.
  if (impl_->guards) impl_->guards->stop(std::min(left(), kMessagesEndWithin));
  if (impl_->ends) impl_->ends->wait(left());
  return {.released = stopped.released, .finished = stopped.finished, .cut_off = stopped.cut_off};
}

}  // namespace recourse
