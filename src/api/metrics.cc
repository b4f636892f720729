#include "api/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "api/feed.h"
#include "api/figures.h"
#include "notify/notifier.h"

namespace recourse::api {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

class Families {
 public:
  // Goes on with the family of that name.
  MetricFamily& family(std::string name, std::string help, MetricType type) {
    for (MetricFamily& known : families_) {
      if (known.name == name) return known;
    }
    families_.push_back({std::move(name), std::move(help), type, {}});
    return families_.back();
  }
  void counter(std::string name, std::string help, Labels labels, std::uint64_t value) {
    ClientMetric metric;
    metric.label = std::move(labels);
    metric.counter.value = static_cast<double>(value);
    family(std::move(name), std::move(help), MetricType::Counter).metric.push_back(metric);
  }
  void counter_of_seconds(std::string name, std::string help, Labels labels, double value) {
    ClientMetric metric;
    metric.label = std::move(labels);
    metric.counter.value = value;
    family(std::move(name), std::move(help), MetricType::Counter).metric.push_back(metric);
  }
  void gauge(std::string name, std::string help, Labels labels, double value) {
    ClientMetric metric;
    metric.label = std::move(labels);
    metric.gauge.value = value;
    family(std::move(name), std::move(help), MetricType::Gauge).metric.push_back(metric);
  }
  void histogram(std::string name, std::string help, Labels labels,
                 std::span<const std::uint64_t> counts, std::span<const double> bounds,
                 double sum) {
    ClientMetric metric;
    metric.label = std::move(labels);
    std::uint64_t cumulative = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      cumulative += counts[i];
      const double bound = i < bounds.size() ? bounds[i] : std::numeric_limits<double>::infinity();
      metric.histogram.bucket.push_back({cumulative, bound});
    }
    metric.histogram.sample_count = cumulative;
    metric.histogram.sample_sum = sum;
    family(std::move(name), std::move(help), MetricType::Histogram).metric.push_back(metric);
  }
  [[nodiscard]] std::string text() const {
    return prometheus::TextSerializer().Serialize(families_);
  }

 private:
  std::vector<MetricFamily> families_;
};

ClientMetric::Label label(std::string name, std::string_view value) {
  ClientMetric::Label made;
  made.name = std::move(name);
  made.value = value;
  return made;
}

void add_failures(Families& out, const std::string& kind, const KindFigures& figures) {
  for (const policy::Category category : policy::kAllCategories) {
    const std::uint64_t count = figures.failures[static_cast<std::size_t>(category)];
    if (count == 0) continue;
    out.counter("recourse_attempt_failures_total", "Attempts that failed, by category.",
                {label("kind", kind), label("category", policy::to_string(category))}, count);
  }
}

void add_kind(Families& out, const std::string& kind, const KindFigures& figures) {
  const Labels of_kind{label("kind", kind)};
  out.counter("recourse_tasks_submitted_total", "Tasks accepted by this node's API.", of_kind,
              figures.submitted);
  out.counter("recourse_submits_refused_total", "Submits that were refused or in doubt.", of_kind,
              figures.refused);
  for (const auto& [state, count] : figures.ended) {
    out.counter("recourse_tasks_ended_total", "Tasks that this node brought to an end, by state.",
                {label("kind", kind), label("state", to_string(state))}, count);
  }
  out.counter("recourse_retries_total", "Attempts that another one follows.", of_kind,
              figures.retried);
  out.counter("recourse_put_off_total", "Tasks put off without an attempt.", of_kind,
              figures.put_off);
  out.counter("recourse_breaker_openings_total", "How often a kind's breaker opened.", of_kind,
              figures.breaker_openings);
  add_failures(out, kind, figures);
  out.histogram("recourse_attempt_seconds", "How long attempts took.", of_kind, figures.took.counts,
                kTimeBounds, figures.took.sum);
  out.histogram("recourse_task_retries", "Retries that ended tasks had used.", of_kind,
                figures.retries.counts, kRetryBounds, figures.retries.sum);
}

void add_lanes(Families& out, const engine::Core::Status& status) {
  std::size_t shown = 0;
  for (const engine::Core::LaneStatus& lane : status.lanes) {
    // Of this node only: one that has more is looked at over the API.
    if (++shown > kKindLabelsMax) break;
    const Labels of_kind{label("kind", lane.kind.value)};
    out.gauge("recourse_lane_queued", "Tasks that wait for a free place on this node.", of_kind,
              static_cast<double>(lane.queued));
    out.gauge("recourse_lane_running", "Attempts that run on this node.", of_kind, lane.running);
    out.gauge("recourse_breaker_open", "1 while a kind's breaker is open on this node.", of_kind,
              lane.breaker == policy::BreakerState::kOpen ? 1 : 0);
  }
}

void add_node(Families& out, Desk& desk) {
  const engine::Core::Status status = desk.node.status();
  const engine::Executor::Use use = desk.node.executor_use();
  out.gauge("recourse_build_info", "The program.", {label("version", desk.version)}, 1);
  out.gauge("recourse_node_live", "1 while this node may run tasks.", {}, status.live ? 1 : 0);
  out.gauge("recourse_held_tasks", "Tasks that this node holds.", {},
            static_cast<double>(status.held));
  out.gauge("recourse_held_bytes", "Bytes of the tasks that this node holds.", {},
            static_cast<double>(status.held_bytes));
  out.gauge("recourse_wheel_pending", "Timers that wait in the wheel.", {},
            static_cast<double>(status.waiting_in_wheel));
  out.gauge("recourse_claim_batch", "How many tasks a claim may bring at most.", {}, status.batch);
  out.gauge("recourse_executor_threads", "Threads of the executor.", {}, use.threads);
  out.gauge("recourse_executor_busy", "Threads of the executor that run a handler.", {}, use.busy);
  out.gauge("recourse_watchers", "Clients that watch live events.", {},
            static_cast<double>(desk.feed.watchers()));
  add_lanes(out, status);
}

// Guards are those of the configuration, so there are few.
void add_guard(Families& out, const guard::Guard& guard) {
  const guard::GuardCounters counters = guard.counters();
  const Labels of_guard{label("guard", guard.name())};
  const auto count = [&](std::string name, std::string help, std::uint64_t number) {
    out.counter(std::move(name), std::move(help), of_guard, number);
  };
  const auto split = [&](std::string name, std::string help, std::string by, std::string_view what,
                         std::uint64_t number) {
    out.counter(std::move(name), std::move(help),
                {label("guard", guard.name()), label(std::move(by), what)}, number);
  };
  count("recourse_guard_scans_total", "Scans of a guarded table.", counters.scans);
  count("recourse_guard_scan_failures_total", "Scans that failed.", counters.scans_failed);
  out.counter_of_seconds("recourse_guard_scan_seconds_total", "Time that scans took.", of_guard,
                         std::chrono::duration<double>(counters.scan_time).count());
  count("recourse_guard_runs_total", "Runs of a row: check, handle, check.", counters.retried);
  count("recourse_guard_run_failures_total", "Runs that did not mend their row.", counters.failed);
  count("recourse_guard_not_claimed_total", "Runs that found their row not due any more.",
        counters.not_claimed);
  count("recourse_guard_lost_total", "Runs whose row was somebody else's at their end.",
        counters.lost);
  const std::string healed = "Rows that are well again, by what found out.";
  split("recourse_guard_healed_total", healed, "by", "scan", counters.healed_by_scan);
  split("recourse_guard_healed_total", healed, "by", "retry", counters.healed_by_retry);
  count("recourse_guard_escalated_total", "Rows given to a person.", counters.escalated);
  const std::string reminders = "Messages about rows that need a person, by what became of them.";
  split("recourse_guard_reminders_total", reminders, "result", "sent", counters.reminded);
  split("recourse_guard_reminders_total", reminders, "result", "failed", counters.reminders_failed);
  for (const auto& [status, rows] : counters.rows) {
    out.gauge("recourse_guard_rows", "Rows in trouble, as a scan has last counted them.",
              {label("guard", guard.name()), label("err_status", std::to_string(status))},
              static_cast<double>(rows));
  }
}

// Channels are those of the configuration, so there are few.
void add_notifications(Families& out, const notify::Notifier& notifier) {
  using enum notify::DeliveryResult;
  for (const notify::ChannelStatus& channel : notifier.statuses()) {
    const auto count = [&](std::string name, std::string help, notify::DeliveryResult result,
                           std::uint64_t number) {
      out.counter(std::move(name), std::move(help),
                  {label("channel", channel.name), label("result", to_string(result))}, number);
    };
    const auto notices = [&](notify::DeliveryResult result, std::uint64_t number) {
      count("recourse_notifications_total", "Notices of this node, by what became of them.", result,
            number);
    };
    const auto summaries = [&](notify::DeliveryResult result, std::uint64_t number) {
      count("recourse_notification_summaries_total",
            "Messages that only told of suppressed notices.", result, number);
    };
    notices(kSent, channel.sent);
    notices(kFailed, channel.failed);
    notices(kSuppressed, channel.suppressed);
    summaries(kSent, channel.summaries_sent);
    summaries(kFailed, channel.summaries_failed);
  }
  out.gauge("recourse_notifications_out", "Notices that wait or are being sent.", {},
            static_cast<double>(notifier.counts().out));
}

// Sources are those of the configuration, so there are few.
void add_source(Families& out, const SourceCard& source) {
  const Labels of_source{label("source", source.name)};
  const message::FeederFigures& figures = source.figures;
  out.counter("recourse_message_received_total", "Messages that this node took from a broker.",
              of_source, figures.received);
  out.counter("recourse_message_acknowledged_total",
              "Messages acknowledged to their broker: done, or on the record.", of_source,
              figures.acknowledged);
  out.counter("recourse_message_given_back_total", "Messages that the broker delivers again.",
              of_source, figures.given_back);
  out.counter("recourse_message_refused_total",
              "Messages that can never be recorded and stay with their broker; each counted once.",
              of_source, figures.refused);
  out.counter("recourse_message_errors_total", "Calls of a broker or of the store that failed.",
              of_source, figures.errors);
  out.gauge("recourse_message_source_connected", "1 while all consumers of a source are connected.",
            of_source, figures.connected ? 1 : 0);
  out.gauge("recourse_message_source_full",
            "1 while nothing is taken, because too much waits already.", of_source,
            figures.is_full ? 1 : 0);
}

// MSG-11: of all message kinds together.
void add_messages(Families& out, const Desk& desk, const store::Counts& counts) {
  if (desk.messages.kinds.empty()) return;
  std::map<message::Status, std::int64_t> messages;
  for (const message::Status status : message::kAllStatuses) messages[status] = 0;
  for (const auto& [key, count] : counts) {
    if (std::ranges::count(desk.messages.kinds, key.first) > 0) {
      if (message::is_counted(key.second)) messages[message::status_of(key.second)] += count;
    }
  }
  for (const auto& [status, count] : messages) {
    out.gauge("recourse_messages", "Messages in the store, by status.",
              {label("status", to_string(status))}, static_cast<double>(count));
  }
}

void add_tasks(Families& out, const store::Counts& counts) {
  std::set<std::string> kinds;
  std::map<std::pair<std::string, task::State>, std::int64_t> shown;
  for (const auto& [key, count] : counts) {
    const bool has_own = kinds.contains(key.first.value) || kinds.size() < kKindLabelsMax;
    if (has_own) kinds.insert(key.first.value);
    shown[{has_own ? key.first.value : "other", key.second}] += count;
  }
  for (const auto& [key, count] : shown) {
    out.gauge("recourse_tasks", "Tasks in the store, by state.",
              {label("kind", key.first), label("state", to_string(key.second))},
              static_cast<double>(count));
  }
}

}  // namespace

std::string metrics_text(Desk& desk) {
  Families out;
  add_node(out, desk);
  const Figures::Snapshot snapshot = desk.figures.snapshot();
  for (const auto& [kind, figures] : snapshot.kinds) add_kind(out, kind, figures);
  for (const auto& [event, count] : snapshot.node_events) {
    out.counter("recourse_node_events_total", "What happened to this node.",
                {label("event", event)}, count);
  }
  add_notifications(out, desk.notifier);
  if (desk.guards != nullptr) {
    for (const auto& guard : desk.guards->guards()) add_guard(out, *guard);
  }
  if (desk.messages.sources) {
    for (const SourceCard& source : desk.messages.sources()) add_source(out, source);
  }
  // The store's own, the same on every node.
  if (const auto counts = desk.opened.reader().counts(kPatience)) {
    add_tasks(out, *counts);
    add_messages(out, desk, *counts);
  }
  return out.text();
}

}  // namespace recourse::api
