#include "message/ordering.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "base/field_checks.h"
#include "engine/core/event.h"
#include "message/envelope.h"
#include "message/order_wait.h"
#include "policy/decision.h"

namespace recourse::message {
namespace {

constexpr Duration kLookPatience = std::chrono::seconds(2);

policy::Decision wait_for(Duration pause, std::string message) {
  policy::Decision decision = policy::retry(policy::Category::kBizRetryable,
                                            std::string(kWaitsForOrder), std::move(message));
  decision.snooze = pause;
  decision.uses_retry = false;
  return decision;
}

std::vector<task::State> blocking_states(const OrderSettings& settings) {
  std::vector states{task::State::kPending, task::State::kRunning, task::State::kPaused};
  if (!settings.skips_dead_heads) {
    states.push_back(task::State::kDead);
    states.push_back(task::State::kFailed);
  }
  return states;
}

}  // namespace

Result<> validate(const OrderSettings& settings) {
  using namespace std::chrono_literals;
  return FieldChecks("order")
      .between<Duration>("pause_min", settings.pause_min, 1ms, 1h)
      .between<Duration>("pause_max", settings.pause_max, settings.pause_min, 1h)
      .result();
}

Duration order_pause(Duration waited, const OrderSettings& settings) {
  return std::clamp(waited / 4, settings.pause_min, settings.pause_max);
}

Result<std::optional<task::TaskId>> find_older(store::Reader& reader, const task::Kind& kind,
                                               const std::string& order_key,
                                               std::optional<task::TaskId> before,
                                               const OrderSettings& settings, Duration within,
                                               const std::optional<task::Tenant>& tenant) {
  store::Filter filter;
  filter.tenant = tenant;
  filter.states = blocking_states(settings);
  filter.kinds = {kind};
  filter.search_key = {std::string(kOrderKey), order_key};
  std::optional<task::TaskId> after = before;
  do {
    const auto page = reader.list(filter, after, 1, within);
    if (!page) return fail(page.error());
    if (!page->tasks.empty()) return std::optional(page->tasks.front().id);
    after = page->next;
  } while (after);
  return std::optional<task::TaskId>();
}

engine::Handler keep_order(engine::Handler handler, store::Reader& reader, OrderSettings settings,
                           OrderWatch* watch) {
  (void)checked(settings);
  return [handler = std::move(handler), &reader, settings,
          watch](const std::shared_ptr<engine::AttemptRun>& run) {
    const task::Task& task = run->task();
    const auto order_key = task.spec.search_keys.find(std::string(kOrderKey));
    if (order_key == task.spec.search_keys.end()) return handler(run);
    const auto older = find_older(reader, task.spec.kind, order_key->second, task.id, settings,
                                  kLookPatience, task.spec.tenant);
    // Its time may be up by now: then nobody waits for the handler any more.
    if (older && !*older && !run->stop_token().stop_requested()) {
      if (watch != nullptr) watch->runs(task.id);
      return handler(run);
    }
    if (watch != nullptr && older && *older) {
      watch->waits(
          {.waiting = task.id, .behind = **older, .skips_dead = settings.skips_dead_heads});
    }
    const Duration waited = std::max(run->began_at() - task.created_at, Duration::zero());
    run->complete(engine::Decided{
        .decision = wait_for(
            order_pause(waited, settings),
            older ? "an older message of the same key is unfinished"
                  : "whether an older message of the same key is unfinished is not known: " +
                        older.error().message),
        .attempted = false});
  };
}

}  // namespace recourse::message
