#include "message/cleaning.h"

#include <stdexcept>

namespace recourse::message {
namespace {

constexpr Duration kCleanPatience = std::chrono::seconds(10);
constexpr Duration kCleanTimeout = std::chrono::hours(1);

}  // namespace

engine::Handler cleaning_handler(store::OpenedStore& opened, const Clock& clock, Log& log,
                                 const Keeping& keeping) {
  return [&opened, &clock, &log, keeping](const std::shared_ptr<engine::AttemptRun>& run) {
    const TimePoint now = clock.now();
    const auto cleaned =
        clean(opened, {task::Kind(run->task().spec.payload)}, now - keeping.processed,
              now - keeping.ignored, "schedule", log, kCleanPatience);
    // What is thrown is retried, as any handler's trouble is.
    if (!cleaned) throw std::runtime_error(cleaned.error().message);
    run->complete(engine::Succeeded{});
  };
}

Result<engine::Schedule> cleaning_schedule(const task::Kind& kind, std::string_view when) {
  const auto parsed = timing::Recurrence::parse(when);
  if (!parsed) {
    return fail(ErrorCode::kInvalid, "the message door's clean-up: " + parsed.error().message);
  }
  engine::Schedule schedule{.name = "message-clean." + kind.value,
                            .when = *parsed,
                            .spec = {},
                            .deadline_in = std::nullopt,
                            .catch_up = engine::kCatchUpMax};
  schedule.spec.kind = task::Kind(std::string(kCleanKind));
  schedule.spec.payload = kind.value;
  schedule.spec.timeout = kCleanTimeout;
  return schedule;
}

}  // namespace recourse::message
