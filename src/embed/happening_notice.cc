#include "embed/happening_notice.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <utility>

namespace recourse::embed {
namespace {

notify::Notice bare_notice(notify::Event event, std::string reason, std::string text) {
  notify::Notice notice{.event = event};
  notice.reason = std::move(reason);
  notice.last_error = std::move(text);
  return notice;
}

std::optional<notify::Notice> notice_of_breaker(const engine::BreakerChanged& changed) {
  using policy::BreakerState;
  // Half open and open again is the same trouble.
  const bool opened =
      changed.change.to == BreakerState::kOpen && changed.change.from == BreakerState::kClosed;
  if (!opened && changed.change.to != BreakerState::kClosed) return std::nullopt;
  notify::Notice told =
      bare_notice(opened ? notify::Event::kBreakerOpened : notify::Event::kBreakerClosed,
                  std::string(to_string(changed.change.to)), "");
  told.kind = changed.kind;
  return told;
}

std::optional<notify::Notice> notice_of_node(const engine::NodeHappened& happened) {
  using engine::NodeEvent;
  const auto told = [&](notify::Event event,
                        std::optional<notify::Severity> severity = std::nullopt) {
    notify::Notice one =
        bare_notice(event, std::string(to_string(happened.event)), happened.detail);
    one.severity = severity;
    if (happened.count != 1) one.attributes["count"] = fmt::format("{}", happened.count);
    return one;
  };
  switch (happened.event) {
    case NodeEvent::kAdopted:
    case NodeEvent::kPeerDead: return told(notify::Event::kTakeover);
    case NodeEvent::kHeartbeatFailed: return told(notify::Event::kLeaseRenewFailed);
    // Nothing is started any more: it is not one lease, it is all of them.
    case NodeEvent::kFenced:
      return told(notify::Event::kLeaseRenewFailed, notify::Severity::kCritical);
    case NodeEvent::kStoreFailed:
    case NodeEvent::kUnsubmitted:
    case NodeEvent::kWriteGivenUp: return told(notify::Event::kPersistFailed);
    case NodeEvent::kDeclared:
    case NodeEvent::kJoinFailed:
    case NodeEvent::kMissed: return told(notify::Event::kEngineError);
    case NodeEvent::kJoined:
    case NodeEvent::kUnfenced:
    case NodeEvent::kRefused:
    case NodeEvent::kDropped:
    case NodeEvent::kReconciled: return std::nullopt;
  }
  std::abort();
}

}  // namespace

std::optional<notify::Notice> notice_of(const engine::Happening& happening) {
  if (const auto* changed = std::get_if<engine::BreakerChanged>(&happening)) {
    return notice_of_breaker(*changed);
  }
  if (const auto* happened = std::get_if<engine::NodeHappened>(&happening)) {
    return notice_of_node(*happened);
  }
  return std::nullopt;
}

}  // namespace recourse::embed
