// The keys of a kind.
#include <array>

#include "app/config/keys.h"
#include "app/config/rows.h"
#include "app/config/text_checks.h"
#include "store/limits.h"
#include "task/record.h"

namespace recourse::app {
namespace {

using namespace std::chrono_literals;

constexpr std::array kFinishedStates{task::State::kSucceeded, task::State::kCancelled,
                                     task::State::kResolved, task::State::kIgnored};
constexpr std::size_t kSigningBytesMin = 16;

template <class T>
Place<bool> presence(std::optional<T>& value) {
  return {[&value] { return std::optional(value.has_value()); },
          [&value](bool given) {
            if (!given) value.reset();
            if (given && !value) value.emplace();
          }};
}

Keys breaker_keys(engine::KindSettings& kind) {
  policy::BreakerSettings& breaker = kind.breaker;
  return {
      switch_of("", at(kind.breaker_enabled),
                {"Stops calling what fails and looks again with a few probes; `breaker: false` "
                 "goes without."}),
      choice("window-type", at(breaker.window_type), policy::kAllWindowTypes,
             {"Whether the last window-calls calls count, or those of the last window-time."}),
      integer("window-calls", at(breaker.window_calls), 1, 10'000,
              {"How many calls the window `count` holds."}),
      duration("window-time", at(breaker.window_time), 1s, 1h,
               {"How far back the window `time` goes."}),
      integer("min-calls", at(breaker.min_calls), 1, 10'000,
              {"Fewer calls than this in the window say nothing."}),
      number("failure-ratio", at(breaker.failure_ratio), 0.01, 1.0,
             {"Opens at this share of failed or timed-out calls."}),
      duration("slow-call", at(breaker.slow_call), 1ms, 24h,
               {"A call that takes longer counts as slow, even if it succeeds."}),
      number("slow-ratio", at(breaker.slow_ratio), 0.01, 1.0,
             {"Opens at this share of slow calls."}),
      duration("open-for", at(breaker.open_for), 1ms, 24h,
               {"How long nothing is called once it is open."}),
      integer("probes", at(breaker.probes), 1, 1'000,
              {"How many calls look whether it is better."}),
  };
}

Keys rate_keys(std::optional<policy::RateSettings>& rate) {
  return {
      switch_of("", presence(rate),
                {"Calls at most, as a rate; `rate: false` (the default) sets none."}),
      number("per-second", inside(rate, &policy::RateSettings::per_second), 0.001, 1'000'000.0,
             {"So many a second on average (100 where only burst is given).", Reload::kRestart,
              "100"}),
      integer("burst", inside(rate, &policy::RateSettings::burst), 1, 1'000'000,
              {"So many at once at most (100 where only per-second is given).", Reload::kRestart,
               "100"}),
  };
}

Keys budget_keys(std::optional<policy::BudgetSettings>& budget) {
  return {
      switch_of("", presence(budget),
                {"Keeps retries from multiplying the load on what already fails; `budget: false` "
                 "(the default) sets none."}),
      number("ratio", inside(budget, &policy::BudgetSettings::ratio), 0.0, 10.0,
             {"Retries as a share of the recent first attempts (0.1 where not given).",
              Reload::kRestart, "0.1"}),
      number("per-second", inside(budget, &policy::BudgetSettings::per_second), 0.0, 1'000'000.0,
             {"Retries a second that are always allowed (10 where not given).", Reload::kRestart,
              "10"}),
      duration("window", inside(budget, &policy::BudgetSettings::window), 1s, 1h,
               {"How far back `recent` goes (10s where not given).", Reload::kRestart, "10s"}),
  };
}

Place<Duration> kept(KindConfig& kind, task::State state) {
  return {[&kind, state]() -> std::optional<Duration> {
            const auto found = kind.retention.find(state);
            return found == kind.retention.end() ? std::nullopt : std::optional(found->second);
          },
          [&kind, state](Duration given) { kind.retention[state] = given; }};
}

Keys retention_keys(KindConfig& kind) {
  const Place<Duration> all{[]() -> std::optional<Duration> { return std::nullopt; },
                            [&kind](Duration given) {
                              for (const task::State state : kFinishedStates) {
                                kind.retention[state] = given;
                              }
                            }};
  Keys keys{duration("", all, 1s, kLongestWait,
                     {"How long finished tasks of this kind are kept: one duration for all, or one "
                      "for each way to end. What is not given follows retention.finished.",
                      Reload::kRestart, "30d"})};
  for (const task::State state : kFinishedStates) {
    keys.push_back(duration(std::string(to_string(state)), kept(kind, state), 1s, kLongestWait,
                            {"How long tasks that ended so are kept.", Reload::kRestart, "30d"}));
  }
  return keys;
}

Keys http_keys(HttpKind& http) {
  Keys keys{text("url", at(http.url),
                 {"Where each attempt is sent. Required for the type http.", Reload::kRestart,
                  "https://points.example.com/grant"},
                 check_url)};
  for (Key& key : request_keys(http)) keys.push_back(std::move(key));
  for (Key& key : Keys{
           text("probe-url", at(http.probe_url),
                {"Asked whether a task is already done, after a time-out or a takeover.",
                 Reload::kRestart, "https://points.example.com/done"},
                check_url),
           size("answer-limit", at(http.answer_bytes_max), 0, std::size_t{1} << 20,
                {"How much of an answer is read."}),
       }) {
    keys.push_back(std::move(key));
  }
  for (Key& key : keys) key.only = to_string(KindType::kHttp);
  return keys;
}

Keys exec_keys(ExecKind& exec) {
  Keys keys{
      list("command", at(exec.command),
           {"The program to run, with its arguments; no shell reads them. Required for the type "
            "exec.",
            Reload::kRestart, "[/usr/local/bin/grant, --once]"},
           check_not_empty),
      list("environment", at(exec.environment),
           {"Names of the server's variables that the program gets; all others it does not.",
            Reload::kRestart, "[PATH, HOME]"},
           check_variable_name),
      text("working-directory", at(exec.working_directory),
           {"Where the program is run; the server's own where not given.", Reload::kRestart,
            "/var/lib/grant"}),
  };
  for (Key& key : keys) key.only = to_string(KindType::kExec);
  return keys;
}

Keys lease_keys(engine::LeaseTimes& lease) {
  Keys keys{
      duration("lease", at(lease.usual), 1s, store::kLeaseMax,
               {"How long a worker, or a service that answered 202, has a task before it must "
                "renew, where it does not say."}),
      duration("lease-max", at(lease.longest), 1s, store::kLeaseMax,
               {"The longest lease that may be asked for."}),
  };
  for (Key& key : keys) key.only = "http or worker";
  return keys;
}

}  // namespace

Keys request_keys(HttpTarget& target) {
  return {
      text_map("headers", at(target.headers),
               {"Further headers of each call; secrets go into secret-headers.", Reload::kRestart,
                "{X-Source: recourse}"},
               check_header_name),
      secret_map("secret-headers", at(target.secret_headers),
                 {"Headers whose values are secrets.", Reload::kRestart,
                  "{Authorization: env:POINTS_AUTHORIZATION}"}),
      secrets("signing", at(target.signing), kSigningBytesMin,
              {"Keys of the Standard Webhooks signature; each signs, so that receivers can change "
               "over.",
               Reload::kRestart, "[env:POINTS_SIGNING_KEY]"}),
  };
}

Keys lane_keys(engine::KindSettings& settings) {
  Keys keys{
      integer("concurrency", at(settings.concurrency), 0, 100'000,
              {"Attempts at once; 0 means a quarter of retry.executor.max-pool-size."}),
      integer("queue", at(settings.queue), 0, 1'000'000,
              {"Tasks that wait on a node for a free place, at most."}),
      integer("tenant-max", at(settings.tenant_max), 0, static_cast<int>(store::kBatchRowsMax),
              {"While others wait, one tenant may have this many of a claim; 0 means first come, "
               "first served."}),
      boolean("cluster-wide", at(settings.cluster_wide),
              {"Concurrency and rate are the whole cluster's, divided by its live nodes."}),
      number("put-off-factor", at(settings.put_off_factor), 1.0, 1'000.0,
             {"How much longer than a usual wait an open breaker puts tasks off."}),
  };
  append(keys, "breaker", breaker_keys(settings));
  append(keys, "rate", rate_keys(settings.rate));
  append(keys, "budget", budget_keys(settings.budget));
  return keys;
}

Keys kind_keys(KindConfig& kind) {
  Keys keys{
      choice("type", at(kind.type), kAllKindTypes,
             {"How its attempts leave the server: http calls a URL, exec runs a program, worker "
              "waits for programs outside to lease tasks."}),
      integer("max-retries", at(kind.max_retries), 0, task::kRetriesMax,
              {"Retries of a task whose submitter does not say."}),
      duration("timeout", at(kind.timeout), 1ms, 24h,
               {"How long an attempt may take where its submitter does not say."}),
  };
  keys.push_back(boolean("degrade", at(kind.degrade),
                         {"Its tasks are side effects that failed inline, recorded through "
                          "/api/v1/degrade. Then max-retries is 3, backoff.base 1m and backoff.max "
                          "1h where not given, every attempt counts as a retry, and completed ones "
                          "are kept until degrade.clean deletes them."}));
  keys.push_back(
      boolean("message", at(kind.message),
              {"Its tasks are messages, recorded by a source that names this kind, which "
               "implies it, or through /api/v1/messages. Then max-retries is 5 and "
               "backoff.strategy message (1, 2, 4, 8, 16 s, without jitter) where not "
               "given, and retention follows messages.keep-processed and "
               "messages.keep-ignored."}));
  append(keys, "backoff", backoff_keys(kind.settings.backoff));
  for (Key& key : lane_keys(kind.settings)) keys.push_back(std::move(key));
  append(keys, "retention", retention_keys(kind));
  for (Keys part : {http_keys(kind.http), exec_keys(kind.exec), lease_keys(kind.settings.lease)}) {
    for (Key& key : part) keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace recourse::app
