#include "notify/alerts/figures.h"

#include <algorithm>
#include <limits>

namespace recourse::notify {
namespace {

double in_seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

bool asks_for_nodes(const AlertDefinition& alert) {
  return alert.figure == AlertFigure::kLiveNodes || alert.figure == AlertFigure::kSilence;
}
bool asks_for_backlog(const AlertDefinition& alert) {
  return alert.figure == AlertFigure::kBacklog || alert.figure == AlertFigure::kOldestDue;
}
bool asks_for_counts(const AlertDefinition& alert) {
  return alert.figure == AlertFigure::kCount || asks_for_backlog(alert);
}

std::int64_t count_of(const AlertDefinition& alert, const store::Counts& all) {
  std::int64_t sum = 0;
  for (const auto& [key, count] : all) {
    if (key.second == alert.state && counts(alert, key.first.value)) sum += count;
  }
  return sum;
}

}  // namespace

Result<std::vector<double>> AlertFigures::read(const std::vector<AlertDefinition>& alerts,
                                               Duration within, const std::stop_token& stop) {
  Answers answers;
  if (Result<> asked = ask(alerts, answers, within, stop); !asked) return fail(asked.error());
  std::vector<double> read;
  read.reserve(alerts.size());
  for (const AlertDefinition& alert : alerts) read.push_back(figure(alert, answers));
  return read;
}

Result<> AlertFigures::ask(const std::vector<AlertDefinition>& alerts, Answers& answers,
                           Duration within, const std::stop_token& stop) {
  if (std::ranges::any_of(alerts, asks_for_nodes)) {
    auto nodes = sources_.reader.nodes(within);
    if (!nodes) return fail(nodes.error());
    answers.nodes = *std::move(nodes);
  }
  if (!std::ranges::any_of(alerts, asks_for_counts)) return {};
  auto counted = sources_.reader.counts(within);
  if (!counted) return fail(counted.error());
  answers.counts = *std::move(counted);
  for (const auto& [key, count] : *answers.counts) {
    if (key.second != task::State::kPending || count <= 0) continue;
    const bool wanted = std::ranges::any_of(alerts, [&](const AlertDefinition& alert) {
      return asks_for_backlog(alert) && counts(alert, key.first.value);
    });
    if (!wanted) continue;
    if (stop.stop_requested()) return fail(ErrorCode::kUnavailable, "it is stopping");
    const auto due = sources_.reader.backlog(key.first, within);
    if (!due) return fail(due.error());
    answers.backlogs.emplace(key.first, *due);
  }
  return {};
}

double AlertFigures::figure(const AlertDefinition& alert, const Answers& answers) {
  switch (alert.figure) {
    case AlertFigure::kCount: return static_cast<double>(count_of(alert, *answers.counts));
    case AlertFigure::kBacklog: {
      std::size_t due = 0;
      for (const auto& [kind, backlog] : answers.backlogs) {
        if (counts(alert, kind.value)) due += backlog.due;
      }
      return static_cast<double>(due);
    }
    case AlertFigure::kOldestDue: {
      std::optional<TimePoint> oldest;
      for (const auto& [kind, backlog] : answers.backlogs) {
        if (!counts(alert, kind.value) || !backlog.oldest_due) continue;
        oldest = std::min(oldest.value_or(*backlog.oldest_due), *backlog.oldest_due);
      }
      if (!oldest) return 0;
      return std::max(0.0, in_seconds(sources_.store_now() - *oldest));
    }
    case AlertFigure::kFailureRate:
    case AlertFigure::kTakeovers:
    case AlertFigure::kLostNodes: return sources_.lately.figure(alert, steady_now());
    case AlertFigure::kLiveNodes:
      return static_cast<double>(
          std::ranges::count(*answers.nodes, false, [](const auto& node) { return node.dead; }));
    case AlertFigure::kSilence:
      return in_seconds(heartbeats_.still_for(mark_of(*answers.nodes), clock_.since_boot()));
    case AlertFigure::kStalled:
      return in_seconds(scheduler_.still_for(sources_.turns(), clock_.since_boot()));
  }
  std::abort();
}

}  // namespace recourse::notify
