// A node's life among others: joining, heartbeats, fencing itself, declaring the dead, freeing what
// they owned.
//
// Invariants
//   1. Nothing may be started at or after start_limit(): the last heartbeat that succeeded, counted
//      from before it was sent, plus nine tenths of the TTL. Others wait for a whole TTL.
//   2. A node is declared dead only by one whose own heartbeats have all succeeded for a TTL and
//      which has seen the other's unchanged for a TTL of its own clock: an outage kills nobody.
//   3. `dead` is for ever: a node that hears of its own death goes on as another incarnation.
//
// Thread safety: none; the core owns it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/planted_bug.h"
#include "base/time.h"
#include "base/ulid.h"
#include "engine/core/command.h"
#include "engine/core/event.h"
#include "engine/core/settings.h"
#include "store/node.h"
#include "task/ids.h"

namespace recourse::engine {

class NodeLife {
 public:
  NodeLife(const NodeSettings& settings, std::vector<task::Kind> kinds, UlidSequence& ids);

  // A new incarnation asks to join.
  void begin(TimePoint now, Commands& out);

  // Each answers whether the news are good ones.
  bool on_join(const JoinEnded& event, TimePoint now, Commands& out);
  enum class Pulse : std::uint8_t { kIgnored, kWell, kFailed, kDead };
  Pulse on_heartbeat(const HeartbeatEnded& event, TimePoint now, Commands& out);
  void on_nodes(const NodesRead& event, TimePoint now, Commands& out);
  void on_declared(const DeclareEnded& event, TimePoint now, Commands& out);
  void on_adopted(const AdoptEnded& event, TimePoint now, Commands& out);

  // Sends what has come due.
  void on_time(TimePoint now, Commands& out);
  [[nodiscard]] TimePoint next_wakeup() const;
  // Does not wait for the next heartbeat's time: to hear of requests, or to confirm a pause.
  void beat_soon(TimePoint now);
  // The list of pauses the node acts by, confirmed with the next heartbeat.
  void confirm_pauses(std::int64_t version) { pauses_seen_ = version; }

  // From here on nothing but leaving: the own row is marked dead, so that nobody waits for a TTL.
  void leave(TimePoint now, Duration within, Commands& out);
  [[nodiscard]] bool has_left() const { return status_ == Status::kLeft; }

  [[nodiscard]] bool is_live() const { return status_ == Status::kLive; }
  // Starts, claims, born-claimed inserts and sticky retries are allowed.
  [[nodiscard]] bool may_act(TimePoint now) const {
    return is_live() && (now < start_limit_ || planted(PlantedBug::kNoSelfFencing));
  }
  [[nodiscard]] TimePoint start_limit() const { return start_limit_; }
  [[nodiscard]] task::Incarnation incarnation() const { return incarnation_; }
  // Alive as far as this node knows, itself included.
  [[nodiscard]] int live_nodes() const { return static_cast<int>(peers_.size()) + 1; }
  // Whether any live node lists the kind.
  [[nodiscard]] bool is_handled(const task::Kind& kind) const;

 private:
  enum class Status : std::uint8_t { kJoining, kLive, kLeaving, kLeft };
  struct Peer {
    std::int64_t beat = 0;
    TimePoint unchanged_since;
    std::vector<task::Kind> kinds;
    bool declaring = false;
    // After a try whose answer was lost.
    TimePoint declare_not_before = TimePoint::min();
  };

  void notice_lapse(TimePoint now);
  void send_heartbeat(TimePoint now, Commands& out);
  void ask_for_nodes(Commands& out);
  void send_adopt(Commands& out);
  void declare_the_dead(TimePoint now, Commands& out);
  void see_peer(const store::NodeRow& row, TimePoint now);
  // When invariant 2 lets this peer be declared dead.
  [[nodiscard]] TimePoint dead_at(const Peer& peer) const;
  void set_start_limit(TimePoint sent_at, Commands& out);

  const NodeSettings& settings_;
  const Duration interval_;
  const std::vector<task::Kind> kinds_;
  UlidSequence& ids_;

  Status status_ = Status::kJoining;
  task::Incarnation incarnation_;
  std::uint64_t calls_ = 0;
  // The join or heartbeat that is out, and when it was sent.
  std::optional<CallId> out_call_;
  TimePoint sent_at_;
  TimePoint next_beat_ = kNever;  // or the next try to join
  TimePoint start_limit_ = TimePoint::min();
  bool fenced_ = false;
  std::optional<TimePoint> healthy_since_;
  std::int64_t pauses_seen_ = 0;

  std::map<task::Incarnation, Peer> peers_;
  bool reading_nodes_ = false;
  bool adopting_ = false;
  TimePoint next_adopt_ = kNever;
  TimePoint leave_by_ = kNever;
  // How long each of a leaving node's may take.
  std::optional<Duration> last_calls_;
};

}  // namespace recourse::engine
