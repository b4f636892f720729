#include "app/config/finish.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include "app/config/fill.h"
#include "app/config/finish_guards.h"
#include "app/config/finish_messages.h"
#include "app/config/text_checks.h"
#include "base/duration_text.h"
#include "base/text.h"
#include "degrade/retry_rule.h"
#include "degrade/status.h"
#include "engine/core/rules.h"
#include "store/limits.h"

namespace recourse::app {
namespace {

// A week between two clean-ups, and one that failed.
constexpr Duration kCleanSlack = std::chrono::hours(24 * 15);

class Finisher {
 public:
  Finisher(Config& config, const Where& start, Problems& problems)
      : config_(config), start_(start), problems_(problems) {}

  void run() {
    finish_server();
    finish_store();
    finish_node();
    finish_messages(config_, start_, problems_);
    for (auto& [name, kind] : config_.kinds) finish_kind(path_of_item("kinds", name), name, kind);
    check_policies("defaults", config_.defaults);
    for (auto& [name, schedule] : config_.schedules) {
      finish_schedule(path_of_item("schedules", name), schedule);
    }
    finish_guards(config_, start_, problems_);
    for (AlertConfig& alert : config_.notify.alerts) {
      finish_alert(path_of_item("notify.alerts", alert.alert.name), alert);
    }
  }

 private:
  [[nodiscard]] bool given(const std::string& path) const { return config_.origins.contains(path); }

  // The first of them that was given.
  [[nodiscard]] Where where(std::initializer_list<std::string> paths) const {
    for (const std::string& path : paths) {
      const auto found = config_.origins.find(path);
      if (found != config_.origins.end()) return found->second;
    }
    return start_;
  }

  void require(bool holds, std::initializer_list<std::string> paths, std::string message) {
    if (!holds) problems_.error(where(paths), std::move(message));
  }

  void finish_server() {
    const auto& tls = config_.server.http.tls;
    require(!tls || (!tls->certificate.empty() && !tls->key.empty()),
            {"server.tls.certificate", "server.tls.key"},
            "server.tls needs both certificate and key");
    const HostPort listen = split_listen(config_.server.http.listen);
    if (!config_.auth.tokens.empty() || is_loopback(listen.host)) {
      require(config_.auth.required != AuthRequired::kTrue || !config_.auth.tokens.empty(),
              {"auth.required"},
              "auth.required is true and there is no token; add one to auth.tokens");
      return;
    }
    if (config_.auth.required == AuthRequired::kFalse) {
      problems_.warning(where({"auth.required", "server.listen"}),
                        fmt::format("everybody who reaches {} may do everything: auth.required is "
                                    "false",
                                    config_.server.http.listen));
      return;
    }
    require(false, {"server.listen"},
            fmt::format("server.listen ({}) is reached from other machines and there is no token; "
                        "add one to auth.tokens, or listen on 127.0.0.1",
                        config_.server.http.listen));
  }

  void finish_store() {
    StoreConfig& store = config_.store;
    if (!store.url.is_empty()) return;
    const std::string folder =
        store.data_dir.ends_with('/') ? store.data_dir : store.data_dir + "/";
    const std::string url = "sqlite:" + (folder == "./" ? "" : folder) + "recourse.db";
    store.url = Secret(url, url);
  }

  void finish_node() {
    engine::NodeSettings& node = config_.node;
    // Whoever gives one number of several means it; the others follow.
    if (!given("node.hold-tasks"))
      node.hold.tasks = std::min(node.hold.tasks, node.wheel.max_pending);
    if (!given("retry.scan.batch-min"))
      node.batch.min = std::min(node.batch.min, node.batch.initial);
    if (!given("retry.scan.batch-max"))
      node.batch.max = std::max(node.batch.max, node.batch.initial);
    if (!given("retry.executor.max-pool-size")) {
      node.executor.max_threads = std::max(node.executor.max_threads, node.executor.core_threads);
    }
    if (!given("retry.stick.renew-ahead")) {
      node.lease.renew_ahead = std::min(node.lease.renew_ahead, node.lease.ttl / 3);
    }
    require(node.hold.tasks <= node.wheel.max_pending, {"node.hold-tasks"},
            fmt::format("node.hold-tasks ({}) must not be more than "
                        "retry.wheel.max-pending-timeouts ({})",
                        node.hold.tasks, node.wheel.max_pending));
    require(node.batch.min <= node.batch.initial && node.batch.initial <= node.batch.max,
            {"retry.scan.batch", "retry.scan.batch-min", "retry.scan.batch-max"},
            fmt::format("retry.scan needs batch-min ({}) <= batch ({}) <= batch-max ({})",
                        node.batch.min, node.batch.initial, node.batch.max));
    require(
        node.executor.core_threads <= node.executor.max_threads,
        {"retry.executor.max-pool-size", "retry.executor.core-pool-size"},
        fmt::format("retry.executor.core-pool-size ({}) must not be more than max-pool-size ({})",
                    node.executor.core_threads, node.executor.max_threads));
    require(
        node.lease.renew_ahead <= node.lease.ttl * 9 / 10,
        {"retry.stick.renew-ahead", "retry.stick.lease-ttl"},
        fmt::format("retry.stick.renew-ahead ({}) must be at most nine tenths of lease-ttl ({})",
                    format_duration(node.lease.renew_ahead), format_duration(node.lease.ttl)));
    check_whole("the node", named(node));
  }

  // A node without a name gets one when the program starts.
  static Result<> named(engine::NodeSettings node) {
    if (node.name.empty()) node.name = "node";
    return engine::validate(node);
  }

  // The engine's own word is the last one. Nothing is said twice: it stops at what was said above.
  void check_whole(std::string_view what, const Result<>& valid) {
    if (valid || problems_.has_errors()) return;
    problems_.error(start_, fmt::format("{} cannot be set up so: {}", what, valid.error().message));
  }

  void check_policies(const std::string& path, const KindConfig& kind) {
    const policy::BackoffSettings& backoff = kind.settings.backoff;
    const std::string backoff_path = path == "defaults" ? "retry.backoff" : path + ".backoff";
    require(backoff.min <= backoff.max, {backoff_path + ".min", backoff_path + ".max"},
            fmt::format("{}.min ({}) must not be more than max ({})", backoff_path,
                        format_duration(backoff.min), format_duration(backoff.max)));
    const policy::BreakerSettings& breaker = kind.settings.breaker;
    require(breaker.window_type == policy::WindowType::kTime ||
                breaker.min_calls <= breaker.window_calls,
            {path + ".breaker.min-calls", path + ".breaker.window-calls"},
            fmt::format("{}.breaker.min-calls ({}) must not be more than window-calls ({}), or it "
                        "never opens",
                        path, breaker.min_calls, breaker.window_calls));
    check_whole(path, engine::validate(kind.settings));
  }

  void finish_kind(const std::string& path, const std::string& name, KindConfig& kind) {
    const Where here = where({path});
    if (kind.type == KindType::kHttp && kind.http.url.empty() && !given(path + ".url")) {
      problems_.error(here, fmt::format("{}.url is missing; for example url: "
                                        "https://points.example.com/grant",
                                        path));
    }
    if (kind.type == KindType::kExec && kind.exec.command.empty() && !given(path + ".command")) {
      problems_.error(here, fmt::format("{}.command is missing; for example command: "
                                        "[/usr/local/bin/grant, --once]",
                                        path));
    }
    require(kind.settings.lease.usual <= kind.settings.lease.longest,
            {path + ".lease", path + ".lease-max"},
            fmt::format("{}.lease ({}) must not be more than lease-max ({})", path,
                        format_duration(kind.settings.lease.usual),
                        format_duration(kind.settings.lease.longest)));
    require(kind.retention.empty() || !name.ends_with('*'),
            {path + ".retention", path + ".retention.succeeded", path},
            fmt::format("{}.retention needs the whole name of a kind, without *", path));
    if (kind.degrade) finish_degrade_kind(path, name, kind);
    kind.settings.has_probe = !kind.http.probe_url.empty();
    for (const auto& [state, kept] : kind.retention) {
      config_.retention.exceptions[{task::Kind(name), state}] = kept;
    }
    check_policies(path, kind);
  }

  // What the door's preset says, where the kind does not.
  void finish_degrade_kind(const std::string& path, const std::string& name, KindConfig& kind) {
    require(!name.ends_with('*'), {path + ".degrade", path},
            fmt::format("{}.degrade needs the whole name of a kind, without *: failures are "
                        "counted by it",
                        path));
    require(kind.max_retries > 0 || !given(path + ".max-retries"), {path + ".max-retries"},
            fmt::format("{}.max-retries must be at least 1: every attempt of a degrade kind is a "
                        "retry",
                        path));
    const policy::BackoffSettings preset = degrade::preset_backoff();
    if (!given(path + ".max-retries")) kind.max_retries = degrade::kRetries;
    if (!given(path + ".backoff.base")) kind.settings.backoff.base = preset.base;
    if (!given(path + ".backoff.max")) kind.settings.backoff.max = preset.max;
    // Left to the clean-up, which comes once a week; what it misses goes a little later.
    for (const task::State state : degrade::states_of(degrade::Status::kCompleted)) {
      kind.retention.try_emplace(state, config_.degrade.clean_after + kCleanSlack);
    }
  }

  [[nodiscard]] bool is_declared(const std::string& kind) const {
    return std::ranges::any_of(
        config_.kinds, [&](const auto& declared) { return engine::fits(declared.first, kind); });
  }

  void finish_schedule(const std::string& path, ScheduleConfig& config) {
    engine::Schedule& schedule = config.schedule;
    const auto kind = config_.kinds.find(schedule.spec.kind.value);
    if (kind != config_.kinds.end()) {
      if (!given(path + ".max-retries")) schedule.spec.max_retries = kind->second.max_retries;
      if (!given(path + ".timeout")) schedule.spec.timeout = kind->second.timeout;
    }
    if (problems_.has_errors()) return;
    if (const Result<> taken = engine::ScheduleTable().add(schedule); !taken) {
      problems_.error(where({path}),
                      fmt::format("{} cannot be scheduled: {}", path, taken.error().message));
    }
    if (!problems_.has_errors() && !is_declared(schedule.spec.kind.value)) {
      problems_.warning(where({path + ".kind", path}),
                        fmt::format("{}.kind: no kind {} is declared here; its tasks wait until "
                                    "some server has it",
                                    path, shown(schedule.spec.kind.value)));
    }
  }

  // A backlog is counted up to a bound.
  static double most_of(const notify::AlertDefinition& alert) {
    const bool is_open =
        alert.kinds.empty() ||
        std::ranges::any_of(alert.kinds, [](const auto& kind) { return kind.ends_with('*'); });
    if (alert.figure != notify::AlertFigure::kBacklog || is_open) {
      return std::numeric_limits<double>::infinity();
    }
    return static_cast<double>(alert.kinds.size() * store::kBacklogCountMax);
  }

  void finish_alert(const std::string& path, AlertConfig& config) {
    policy::AlertSettings& rule = config.alert.rule;
    if (config.at_least.has_value() == config.at_most.has_value()) {
      problems_.error(where({path + ".at-most", path}),
                      fmt::format("{} needs at-least or at-most, one of them; for example "
                                  "at-least: 100",
                                  path));
      return;
    }
    const bool above = config.at_least.has_value();
    rule.side = above ? policy::AlertSide::kAbove : policy::AlertSide::kBelow;
    rule.fire_at = above ? *config.at_least : *config.at_most;
    const double usual = above ? rule.fire_at * 0.8 : std::max(1.0, rule.fire_at * 1.25);
    rule.clear_at = config.clear.value_or(usual);
    require(above ? rule.clear_at < rule.fire_at : rule.clear_at > rule.fire_at,
            {path + ".clear", path + ".at-least", path + ".at-most"},
            fmt::format("{}.clear ({}) must be {} ({}): between the two nothing changes", path,
                        rule.clear_at, above ? "less than at-least" : "more than at-most",
                        rule.fire_at));
    require(
        config.alert.figure != notify::AlertFigure::kFailureRate || rule.fire_at <= 1,
        {path + ".at-least", path + ".at-most"},
        fmt::format("{}: a failure_rate is between 0 and 1; for half of all attempts 0.5", path));
    require(!above || rule.fire_at <= most_of(config.alert), {path + ".at-least"},
            fmt::format("{}.at-least ({}) is never reached: a backlog is counted up to {} a kind",
                        path, rule.fire_at, store::kBacklogCountMax));
    check_whole(path, notify::validate(config.alert));
  }

  Config& config_;
  const Where& start_;
  Problems& problems_;
};

}  // namespace

void finish(Config& config, const Where& start, Problems& problems) {
  Finisher(config, start, problems).run();
}

}  // namespace recourse::app
