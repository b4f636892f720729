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
  // A long line must not fill what a node may hold.
  decision.prefer_sticky = false;
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

Duration order_pause(Duration waited, std::size_t ahead, const OrderSettings& settings) {
  const Duration next_in_line = std::clamp(waited / 4, settings.pause_min, settings.pause_max);
  const auto places = static_cast<Duration::rep>(std::clamp<std::size_t>(ahead, 1, kAheadMax));
  return std::max(next_in_line, std::min(next_in_line * places, kOrderPauseMax));
}

Result<std::size_t> count_older(store::Reader& reader, const task::Kind& kind,
                                const std::string& order_key, std::optional<task::TaskId> before,
                                const OrderSettings& settings, std::size_t most, Duration within,
                                const std::optional<task::Tenant>& tenant) {
  store::Filter filter;
  filter.tenant = tenant;
  filter.states = blocking_states(settings);
  filter.kinds = {kind};
  filter.search_key = {std::string(kOrderKey), order_key};
  std::optional<task::TaskId> after = before;
  std::size_t count = 0;
  do {
    const auto page = reader.list(filter, after, most - count, within);
    if (!page) return fail(page.error());
    count += page->tasks.size();
    after = page->next;
  } while (after && count < most);
  return count;
}

engine::Handler keep_order(engine::Handler handler, store::Reader& reader, OrderSettings settings) {
  (void)checked(settings);
  return [handler = std::move(handler), &reader,
          settings](const std::shared_ptr<engine::AttemptRun>& run) {
    const task::Task& task = run->task();
    const auto order_key = task.spec.search_keys.find(std::string(kOrderKey));
    if (order_key == task.spec.search_keys.end()) return handler(run);
    const Result<std::size_t> older =
        count_older(reader, task.spec.kind, order_key->second, task.id, settings, kAheadMax,
                    kLookPatience, task.spec.tenant);
    // Its time may be up by now: then nobody waits for the handler any more.
    if (older && *older == 0 && !run->stop_token().stop_requested()) return handler(run);
    const Duration waited = std::max(run->began_at() - task.created_at, Duration::zero());
    run->complete(engine::Decided{
        .decision = wait_for(
            order_pause(waited, older.value_or(1), settings),
            older ? "an older message of the same key is unfinished"
                  : "whether an older message of the same key is unfinished is not known: " +
                        older.error().message),
        .attempted = false});
  };
}

}  // namespace recourse::message
