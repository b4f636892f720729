#include "engine/core/node_life.h"

#include <algorithm>
#include <utility>

#include "base/planted_bug.h"
#include "engine/core/rules.h"

namespace recourse::engine {
namespace {

constexpr Duration kJoinPause = std::chrono::seconds(1);

}  // namespace

NodeLife::NodeLife(const NodeSettings& settings, std::vector<task::Kind> kinds, UlidSequence& ids)
    : settings_(settings),
      interval_(heartbeat_interval(settings.lease)),
      kinds_(std::move(kinds)),
      ids_(ids) {}

void NodeLife::begin(TimePoint now, Commands& out) {
  status_ = Status::kJoining;
  incarnation_ = task::Incarnation(ids_.next(now));
  start_limit_ = TimePoint::min();
  healthy_since_.reset();
  peers_.clear();
  next_adopt_ = kNever;
  fenced_ = false;
  out_call_ = CallId(++calls_);
  sent_at_ = now;
  next_beat_ = kNever;
  out.emplace_back(
      Join{.call = *out_call_,
           .node = {.incarnation = incarnation_, .name = settings_.name, .kinds = kinds_},
           .within = settings_.store_timeout});
}

bool NodeLife::on_join(const JoinEnded& event, TimePoint now, Commands& out) {
  if (event.call != out_call_ || status_ != Status::kJoining) return false;
  out_call_.reset();
  if (!event.answer) {
    out.emplace_back(Happening(NodeHappened{NodeEvent::kJoinFailed, event.answer.error().message}));
    next_beat_ = now + kJoinPause;
    return false;
  }
  status_ = Status::kLive;
  pauses_seen_ = event.answer->pauses.version;
  healthy_since_ = now;
  next_beat_ = sent_at_ + interval_;
  next_adopt_ = now;
  set_start_limit(sent_at_, out);
  out.emplace_back(
      Happening(NodeHappened{NodeEvent::kJoined, task::to_string(task::Owner(incarnation_))}));
  ask_for_nodes(out);
  return true;
}

NodeLife::Pulse NodeLife::on_heartbeat(const HeartbeatEnded& event, TimePoint now, Commands& out) {
  if (event.call != out_call_) return Pulse::kIgnored;
  out_call_.reset();
  if (!is_live()) return Pulse::kIgnored;
  notice_lapse(now);
  if (event.answer) {
    if (!healthy_since_) healthy_since_ = now;
    set_start_limit(sent_at_, out);
    if (std::exchange(fenced_, false) && now < start_limit_) {
      out.emplace_back(Happening(NodeHappened{NodeEvent::kUnfenced, ""}));
    }
    ask_for_nodes(out);
    return Pulse::kWell;
  }
  healthy_since_.reset();
  if (event.answer.error().code == ErrorCode::kConflict) {
    out.emplace_back(
        Happening(NodeHappened{NodeEvent::kDeclared, task::to_string(task::Owner(incarnation_))}));
    begin(now, out);
    return Pulse::kDead;
  }
  out.emplace_back(
      Happening(NodeHappened{NodeEvent::kHeartbeatFailed, event.answer.error().message}));
  next_beat_ = std::min(next_beat_, now + interval_ / 4);
  return Pulse::kFailed;
}

// A machine that stood still has seen nobody's heartbeats, its own included, although none failed.
void NodeLife::notice_lapse(TimePoint now) {
  if (is_live() && now >= start_limit_) healthy_since_.reset();
}

void NodeLife::set_start_limit(TimePoint sent_at, Commands& out) {
  start_limit_ = sent_at + fenced_after(settings_.lease);
  out.emplace_back(SetStartLimit{planted(PlantedBug::kNoSelfFencing) ? kNever : start_limit_});
}

void NodeLife::send_heartbeat(TimePoint now, Commands& out) {
  out_call_ = CallId(++calls_);
  sent_at_ = now;
  next_beat_ = now + interval_;
  out.emplace_back(Heartbeat{
      .call = *out_call_, .node = incarnation_, .pauses_seen = pauses_seen_, .within = interval_});
}

void NodeLife::beat_soon(TimePoint now) { next_beat_ = std::min(next_beat_, now); }

void NodeLife::ask_for_nodes(Commands& out) {
  if (std::exchange(reading_nodes_, true)) return;
  out.emplace_back(ReadNodes{.within = last_calls_.value_or(settings_.store_timeout)});
}

void NodeLife::see_peer(const store::NodeRow& row, TimePoint now) {
  const auto [found, is_new] = peers_.try_emplace(row.info.incarnation);
  Peer& peer = found->second;
  if (is_new || peer.beat != row.beat) peer.unchanged_since = now;
  peer.beat = row.beat;
  peer.kinds = row.info.kinds;
}

void NodeLife::on_nodes(const NodesRead& event, TimePoint now, Commands& out) {
  reading_nodes_ = false;
  notice_lapse(now);
  if (!event.answer) {
    if (status_ == Status::kLeaving) next_beat_ = now + interval_ / 4;
    return;
  }
  std::map<task::Incarnation, Peer> known = std::exchange(peers_, {});
  for (const store::NodeRow& row : *event.answer) {
    if (row.info.incarnation == incarnation_) {
      if (status_ == Status::kLeaving && !row.dead) {
        out.emplace_back(DeclareDead{.node = incarnation_,
                                     .beat_seen = row.beat,
                                     .within = last_calls_.value_or(settings_.store_timeout)});
      } else if (status_ == Status::kLeaving) {
        status_ = Status::kLeft;
      }
      continue;
    }
    if (row.dead) continue;
    if (auto old = known.extract(row.info.incarnation)) peers_.insert(std::move(old));
    see_peer(row, now);
  }
  declare_the_dead(now, out);
}

TimePoint NodeLife::dead_at(const Peer& peer) const {
  if (planted(PlantedBug::kDeclareUnhealthy) && is_live() && !peer.declaring) {
    return std::max(peer.unchanged_since + settings_.lease.ttl, peer.declare_not_before);
  }
  if (!is_live() || !healthy_since_ || peer.declaring) return kNever;
  // Nobody else can have the store: whoever is in it has left it.
  if (settings_.exclusive_store) return peer.declare_not_before;
  return std::max(std::max(peer.unchanged_since, *healthy_since_) + settings_.lease.ttl,
                  peer.declare_not_before);
}

void NodeLife::declare_the_dead(TimePoint now, Commands& out) {
  for (auto& [node, peer] : peers_) {
    if (dead_at(peer) > now) continue;
    peer.declaring = true;
    out.emplace_back(
        DeclareDead{.node = node, .beat_seen = peer.beat, .within = settings_.store_timeout});
  }
}

void NodeLife::on_declared(const DeclareEnded& event, TimePoint now, Commands& out) {
  if (event.node == incarnation_) {
    if (status_ != Status::kLeaving) return;
    if (event.answer && *event.answer) {
      status_ = Status::kLeft;
    } else if (event.answer) {
      ask_for_nodes(out);  // a heartbeat came between
    } else {
      next_beat_ = now + interval_ / 4;
    }
    return;
  }
  const auto peer = peers_.find(event.node);
  if (peer == peers_.end()) return;
  if (event.answer && *event.answer) {
    out.emplace_back(
        Happening(NodeHappened{NodeEvent::kPeerDead, task::to_string(task::Owner(event.node))}));
    peers_.erase(peer);
    if (!planted(PlantedBug::kAdoptOnce)) next_adopt_ = now;
    on_time(now, out);
    return;
  }
  // It has beaten since, or nobody knows: then again soon, if what was read of it meanwhile still
  // says so.
  peer->second.declaring = false;
  peer->second.declare_not_before = now + interval_ / 4;
  if (event.answer) peer->second.unchanged_since = now;
}

void NodeLife::send_adopt(Commands& out) {
  adopting_ = true;
  next_adopt_ = kNever;
  out.emplace_back(Adopt{.within = settings_.store_timeout});
}

void NodeLife::on_adopted(const AdoptEnded& event, TimePoint now, Commands& out) {
  adopting_ = false;
  // Again each TTL: what a dead node still had in flight may be committed late.
  if (!planted(PlantedBug::kAdoptOnce)) {
    next_adopt_ = std::min(next_adopt_, now + settings_.lease.ttl);
  }
  if (!event.answer) {
    next_adopt_ = std::min(next_adopt_, now + interval_);
    return;
  }
  if (event.answer->tasks > 0) {
    out.emplace_back(
        Happening(NodeHappened{NodeEvent::kAdopted, "", static_cast<int>(event.answer->tasks)}));
  }
  if (event.answer->more) next_adopt_ = now;
  on_time(now, out);
}

void NodeLife::on_time(TimePoint now, Commands& out) {
  if (status_ == Status::kLeft) return;
  if (status_ == Status::kLeaving) {
    if (now >= leave_by_) status_ = Status::kLeft;
    if (status_ == Status::kLeaving && now >= next_beat_) {
      next_beat_ = kNever;
      ask_for_nodes(out);
    }
    return;
  }
  if (!out_call_ && now >= next_beat_) {
    if (status_ == Status::kJoining) {
      begin(now, out);
    } else {
      send_heartbeat(now, out);
    }
  }
  if (!is_live()) return;
  notice_lapse(now);
  if (!fenced_ && now >= start_limit_) {
    fenced_ = true;
    out.emplace_back(Happening(NodeHappened{NodeEvent::kFenced, ""}));
  }
  declare_the_dead(now, out);
  if (!adopting_ && now >= next_adopt_) send_adopt(out);
}

TimePoint NodeLife::next_wakeup() const {
  if (status_ == Status::kLeft) return kNever;
  if (status_ == Status::kLeaving) return std::min(next_beat_, leave_by_);
  TimePoint next = out_call_ ? kNever : next_beat_;
  if (!is_live()) return next;
  if (!fenced_) next = std::min(next, start_limit_);
  if (!adopting_) next = std::min(next, next_adopt_);
  for (const auto& [node, peer] : peers_) next = std::min(next, dead_at(peer));
  return next;
}

void NodeLife::leave(TimePoint now, Duration within, Commands& out) {
  const bool was_live = is_live();
  status_ = was_live ? Status::kLeaving : Status::kLeft;
  start_limit_ = TimePoint::min();
  next_beat_ = kNever;
  leave_by_ = now + within;
  last_calls_ = within;
  // A join that is still out is swept up by others, as any node that dies is.
  if (was_live) ask_for_nodes(out);
}

bool NodeLife::is_handled(const task::Kind& kind) const {
  const auto lists = [&](const std::vector<task::Kind>& kinds) {
    return std::ranges::any_of(
        kinds, [&](const task::Kind& name) { return fits(name.value, kind.value); });
  };
  if (lists(kinds_)) return true;
  return std::ranges::any_of(peers_, [&](const auto& peer) { return lists(peer.second.kinds); });
}

}  // namespace recourse::engine
