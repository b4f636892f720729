#include "degrade/cleaning.h"

#include <stdexcept>

#include "degrade/records.h"

namespace recourse::degrade {
namespace {

constexpr Duration kCleanPatience = std::chrono::seconds(10);
constexpr Duration kCleanTimeout = std::chrono::hours(1);

}  // namespace

engine::Handler cleaning_handler(store::OpenedStore& opened, const Clock& clock, Log& log,
                                 Duration after) {
  return [&opened, &clock, &log, after](const std::shared_ptr<engine::AttemptRun>& run) {
    const auto cleaned = clean(opened, {task::Kind(run->task().spec.payload)}, clock.now() - after,
                               "schedule", log, kCleanPatience);
    // What is thrown is retried, as any handler's trouble is.
    if (!cleaned) throw std::runtime_error(cleaned.error().message);
    run->complete(engine::Succeeded{});
  };
}

Result<engine::Schedule> cleaning_schedule(const task::Kind& kind, std::string_view when) {
  const auto parsed = timing::Recurrence::parse(when);
  if (!parsed) {
    return fail(ErrorCode::kInvalid, "the degrade door's clean-up: " + parsed.error().message);
  }
  engine::Schedule schedule{.name = "degrade-clean." + kind.value,
                            .when = *parsed,
                            .spec = {},
                            .deadline_in = std::nullopt,
                            .catch_up = engine::kCatchUpMax};
  schedule.spec.kind = task::Kind(std::string(kCleanKind));
  schedule.spec.payload = kind.value;
  schedule.spec.timeout = kCleanTimeout;
  return schedule;
}

}  // namespace recourse::degrade
