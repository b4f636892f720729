// Claims: when, of which kinds, how many; and kinds that nobody handles.
#include <algorithm>
#include <utility>

#include "engine/core/core.h"

namespace recourse::engine {
namespace {

// Of a kind whose payloads this node has not seen yet.
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

std::vector<store::Quota> Core::quotas(TimePoint now) const {
  std::vector<store::Quota> quotas;
  std::size_t bytes = settings_.hold.bytes - std::min(settings_.hold.bytes, held_bytes_);
  int queue_room = settings_.executor.max_threads + settings_.executor.queue - executing_ -
                   static_cast<int>(queued());
  for (const auto& [kind, lane] : lanes_) {
    const std::size_t each = std::max(lane->largest, kUsualBytes);
    int limit = std::min({lane->room(now), static_cast<int>(store::kBatchRowsMax), queue_room});
    limit = std::min(limit, static_cast<int>(bytes / each));
    if (lane->largest == 0) limit = std::min(limit, kFirstClaim);
    if (limit <= 0) continue;
    bytes -= std::min(bytes, static_cast<std::size_t>(limit) * each);
    queue_room -= limit;
    quotas.push_back(
        {.kind = kind, .limit = limit, .tenant_max = lane->rules().settings.tenant_max});
    if (quotas.size() == store::kQuotasMax) break;
  }
  for (const auto& [kind, since] : nobodys_) {
    if (quotas.size() == store::kQuotasMax || now - since < settings_.no_handler_after) continue;
    quotas.push_back({.kind = kind, .limit = kNobodysPerClaim});
  }
  return quotas;
}

void Core::send_claim(TimePoint now, Commands& out) {
  if (stopping_ || claim_ || !life_.may_act(now) || !wants_claim(now)) return;
  if (const auto change = batch_.observe(
          {.executor_queue = static_cast<double>(queued()) / std::max(1, settings_.executor.queue),
           .wheel = static_cast<double>(wheel_.pending()) /
                    static_cast<double>(settings_.wheel.max_pending)})) {
    out.emplace_back(Happening(BatchChanged{*change}));
  }
  scanner_.sent(now);
  std::vector<store::Quota> wanted = has_hold_room() ? quotas(now) : std::vector<store::Quota>();
  if (wanted.empty()) {
    scanner_.ended();
    return;
  }
  ClaimCall call{.call = CallId(++calls_),
                 .lease = task::LeaseId(ids_.next(now)),
                 .owner = life_.incarnation(),
                 .asked = {}};
  for (const store::Quota& quota : wanted) {
    call.asked[quota.kind] = quota.limit;
    if (const auto lane = lanes_.find(quota.kind); lane != lanes_.end()) {
      lane->second->may_have_more = false;
    }
  }
  const std::size_t room = settings_.hold.tasks - held_.size();
  const int limit =
      std::min({batch_.batch(), static_cast<int>(store::kBatchRowsMax), static_cast<int>(room)});
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
  const bool full = event.answer->tasks.size() >= store::kBatchRowsMax ||
                    event.answer->tasks.size() >= static_cast<std::size_t>(batch_.batch());
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

void Core::handle(CountsRead event, TimePoint now, Commands&) {
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
