// Claims: when, of which kinds, how many; and kinds that nobody handles.
#include <algorithm>
#include <utility>

#include "engine/core/core.h"

namespace recourse::engine {
namespace {

// Of a kind whose payloads this node has not seen yet, at most.
constexpr int kFirstClaim = 64;
constexpr std::size_t kUsualBytes = 4 * 1024;
// Per claim of a kind that nobody handles.
constexpr int kNobodysPerClaim = 50;
constexpr Duration kCountsEvery = std::chrono::seconds(60);

}  // namespace

bool Core::wants_claim(TimePoint now) const {
  if (scanner_.is_due(now)) return true;
  return std::ranges::any_of(lanes_, [&](const auto& entry) {
    const Lane& lane = *entry.second;
    return lane.may_have_more && lane.room(now) >= std::max(1, lane.capacity() / 2);
  });
}

int Core::claim_limit() const {
  const int queue_room = settings_.executor.max_threads + settings_.executor.queue - executing_ -
                         static_cast<int>(queued_);
  const auto hold_room =
      static_cast<int>(std::min(settings_.hold.tasks - held_.size(), store::kBatchRowsMax));
  std::size_t largest = kUsualBytes;
  for (const auto& [kind, lane] : lanes_) largest = std::max(largest, lane->largest);
  const std::size_t bytes = settings_.hold.bytes - std::min(settings_.hold.bytes, held_bytes_);
  const auto by_bytes = static_cast<int>(std::min(bytes / largest, store::kBatchRowsMax));
  return std::min({batch_.batch(), queue_room, hold_room, by_bytes});
}

// All of them together fit into what may be held, were they as large as they can be.
int Core::first_claim(TimePoint now) const {
  const auto unseen = std::ranges::count_if(lanes_, [&](const auto& entry) {
    return entry.second->largest == 0 && entry.second->room(now) > 0;
  });
  if (unseen == 0) return 0;
  const std::size_t bytes = settings_.hold.bytes - std::min(settings_.hold.bytes, held_bytes_);
  const std::size_t rows = bytes / task::kPayloadBytesMax / static_cast<std::size_t>(unseen);
  return static_cast<int>(std::clamp<std::size_t>(rows, 1, kFirstClaim));
}

std::vector<store::Quota> Core::quotas(int most, TimePoint now) {
  std::vector<store::Quota> quotas;
  // Behind those that were asked for last: all together may want more than there is room for.
  std::vector<const Lane*> in_turn;
  for (const auto& [kind, lane] : lanes_) in_turn.push_back(lane.get());
  if (!in_turn.empty()) {
    const auto first = static_cast<std::ptrdiff_t>(claim_turns_ % in_turn.size());
    std::ranges::rotate(in_turn, in_turn.begin() + first);
  }
  const int first = first_claim(now);
  for (const Lane* lane : in_turn) {
    int limit = std::min(lane->room(now), most);
    if (lane->largest == 0) limit = std::min(limit, first);
    if (limit <= 0) continue;
    quotas.push_back(
        {.kind = lane->kind(), .limit = limit, .tenant_max = lane->rules().settings.tenant_max});
    if (quotas.size() == store::kQuotasMax) break;
  }
  claim_turns_ += std::max<std::size_t>(1, quotas.size());
  for (const auto& [kind, since] : nobodys_) {
    if (quotas.size() == store::kQuotasMax || now - since < settings_.no_handler_after) continue;
    quotas.push_back({.kind = kind, .limit = kNobodysPerClaim});
  }
  return quotas;
}

void Core::send_claim(TimePoint now, Commands& out) {
  if (stopping_ || claim_ || !life_.may_act(now) || !wants_claim(now)) return;
  if (const auto change = batch_.observe(
          {.executor_queue = static_cast<double>(queued_) / std::max(1, settings_.executor.queue),
           .wheel = static_cast<double>(wheel_.pending()) /
                    static_cast<double>(settings_.wheel.max_pending)})) {
    out.emplace_back(Happening(BatchChanged{*change}));
  }
  scanner_.sent(now);
  const int limit = has_hold_room() ? claim_limit() : 0;
  std::vector<store::Quota> wanted = limit > 0 ? quotas(limit, now) : std::vector<store::Quota>();
  if (wanted.empty()) {
    scanner_.ended();
    return;
  }
  ClaimCall call{.call = CallId(++calls_),
                 .lease = task::LeaseId(ids_.next(now)),
                 .owner = life_.incarnation(),
                 .limit = limit,
                 .asked = {}};
  for (const store::Quota& quota : wanted) {
    call.asked[quota.kind] = quota.limit;
    if (const auto lane = lanes_.find(quota.kind); lane != lanes_.end()) {
      lane->second->may_have_more = false;
    }
  }
  out.emplace_back(Claim{.call = call.call,
                         .request = {.owner = call.owner,
                                     .lease = call.lease,
                                     .lease_for = std::nullopt,
                                     .quotas = std::move(wanted),
                                     .limit = limit,
                                     .shards = settings_.shards},
                         .within = settings_.store_timeout});
  claim_ = std::move(call);
}

void Core::handle(ClaimEnded event, TimePoint now, Commands& out) {
  if (!claim_ || claim_->call != event.call) return;
  const ClaimCall call = std::move(*claim_);
  claim_.reset();
  if (event.answer && reconciling_.out) ended_since_read_.insert(call.lease);
  scanner_.ended();
  if (!event.answer) {
    out.emplace_back(
        Happening(NodeHappened{NodeEvent::kStoreFailed, "claim: " + event.answer.error().message}));
    if (event.answer.error().code == ErrorCode::kInDoubt) next_reconcile_ = now;
    return;
  }
  store_time_.learn(event.answer->now, now);
  // Declared dead in between: they are adopted by others.
  if (call.owner != life_.incarnation()) return;
  std::map<task::Kind, int> got;
  const bool full = std::ssize(event.answer->tasks) >= call.limit;
  for (task::Task& task : event.answer->tasks) {
    ++got[task.spec.kind];
    Lane* lane = lane_of(task.spec.kind, now);
    if (lane == nullptr) {
      give_up_without_handler(std::move(task), now);
      continue;
    }
    lane->largest = std::max(lane->largest, bytes_of(task));
    const TimePoint due_at = task.due_at;
    if (HeldTask* older = find_held(task.id)) supersede(*older);
    HeldTask& held = hold(std::move(task));
    enqueue(held);
    if (stopping_) {
      release(held, event.answer->now, now);
    } else if (lane->paused() || !has_hold_room()) {
      release(held, due_at, now);
    }
  }
  for (const auto& [kind, asked] : call.asked) {
    const auto lane = lanes_.find(kind);
    if (lane == lanes_.end()) continue;
    if (full || got[kind] >= asked) lane->second->may_have_more = true;
  }
}

void Core::give_up_without_handler(task::Task task, TimePoint now) {
  if (HeldTask* older = find_held(task.id)) supersede(*older);
  HeldTask& held = hold(std::move(task));
  task::Transition end = task::plan(*held.task, task::Move::kGiveUp, store_time_.at(now));
  end.error = task::Reason{"NO_HANDLER", "no live node has a handler for this kind"};
  write(held, {.transition = std::move(end), .attempt = std::nullopt},
        {.category = policy::Category::kUnknown,
         .escalation = policy::Escalation::kDeadLetter,
         .took = std::nullopt});
}

void Core::look_for_kinds(TimePoint now, Commands& out) {
  if (stopping_ || reading_counts_ || !life_.may_act(now) || now < next_counts_) return;
  reading_counts_ = true;
  next_counts_ = now + kCountsEvery;
  out.emplace_back(ReadCounts{.within = settings_.store_timeout});
}

void Core::handle(const CountsRead& event, TimePoint now, Commands&) {
  reading_counts_ = false;
  if (!event.answer) return;
  std::map<task::Kind, TimePoint> nobodys;
  for (const auto& [key, count] : *event.answer) {
    const auto& [kind, state] = key;
    if (state != task::State::kPending || count <= 0) continue;
    if (lane_of(kind, now) != nullptr || life_.is_handled(kind)) continue;
    const auto known = nobodys_.find(kind);
    nobodys.emplace(kind, known == nobodys_.end() ? now : known->second);
  }
  nobodys_ = std::move(nobodys);
}

}  // namespace recourse::engine
