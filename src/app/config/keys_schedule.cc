// The keys of a schedule: when, and the task to submit each time.
#include <fmt/format.h>

#include "app/config/keys.h"
#include "app/config/rows.h"
#include "app/config/text_checks.h"
#include "task/record.h"
#include "timing/recurrence.h"

namespace recourse::app {
namespace {

using namespace std::chrono_literals;

Key when_key(ScheduleConfig& config) {
  const auto check = [](std::string_view written) {
    const Result<timing::Recurrence> parsed = timing::Recurrence::parse(written);
    return parsed ? std::string() : fmt::format("is not understood: {}", parsed.error().message);
  };
  const Place<std::string> place{[&config] { return std::optional(config.when); },
                                 [&config](const std::string& written) {
                                   Result<timing::Recurrence> parsed =
                                       timing::Recurrence::parse(written);
                                   if (!parsed) return;
                                   config.when = written;
                                   config.schedule.when = *parsed;
                                 }};
  return required(text("when", place,
                       {"A cron expression (UTC), @daily and the like, or an interval.",
                        Reload::kRestart, "every 5m"},
                       check));
}

// The name stays inside of a strong type.
template <class Name>
Place<std::string> value_of(Name& name) {
  return at(name.value);
}

}  // namespace

ScheduleConfig new_schedule(const std::string& name, const KindConfig& defaults) {
  engine::Schedule schedule{.name = name,
                            .when = *timing::Recurrence::parse("@daily"),
                            .spec = {},
                            .deadline_in = std::nullopt};
  schedule.spec.max_retries = defaults.max_retries;
  schedule.spec.timeout = defaults.timeout;
  return {.when = {}, .schedule = std::move(schedule)};
}

Keys schedule_keys(ScheduleConfig& config) {
  engine::Schedule& schedule = config.schedule;
  task::TaskSpec& spec = schedule.spec;
  return {
      when_key(config),
      required(text("kind", value_of(spec.kind),
                    {"The kind of the tasks.", Reload::kRestart, "nightly-report"},
                    [](std::string_view name) -> std::string {
                      if (name.ends_with('*')) return "must be one kind: the * is for handlers";
                      return check_kind_name(name);
                    })),
      text("payload", at(spec.payload),
           {"The payload of each task, as it stands.", Reload::kRestart,
            "'{\"report\": \"daily\"}'"}),
      text("tenant", value_of(spec.tenant), {"Their tenant.", Reload::kRestart, "acme"}),
      text("shard-key", value_of(spec.shard_key), {"Their shard key.", Reload::kRestart, "acme"}),
      integer("priority", at(spec.priority), 0, task::kPriorityMax,
              {"Their priority; larger first."}),
      integer("max-retries", at(spec.max_retries), 0, task::kRetriesMax,
              {"Their retries; the kind's where not given."}),
      duration("timeout", at(spec.timeout), 1ms, 24h,
               {"The time of each attempt; the kind's where not given."}),
      text("backoff", at(spec.backoff),
           {"The name of a backoff instead of the kind's.", Reload::kRestart, "linear"}),
      duration("delay", at(schedule.delay), 0us, kLongestWait,
               {"How long after the occurrence the task is due."}),
      duration("deadline", maybe(schedule.deadline_in), 1us, kLongestWait,
               {"No attempt starts later than this after the occurrence.", Reload::kRestart, "6h"}),
      duration("catch-up", at(schedule.catch_up), 0us, engine::kCatchUpMax,
               {"How late an occurrence may still be run that came while no node lived."}),
      text_map("headers", at(spec.headers),
               {"Headers of each task.", Reload::kRestart, "{X-Source: schedule}"}),
  };
}

}  // namespace recourse::app
