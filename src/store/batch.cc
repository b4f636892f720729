#include "store/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/field_checks.h"
#include "base/text.h"
#include "task/transition.h"

namespace recourse::store {
namespace {

template <class Id>
bool all_distinct(std::vector<Id> ids) {
  std::ranges::sort(ids);
  return std::ranges::adjacent_find(ids) == ids.end();
}

template <class Batch, class IdOf>
Result<> check_ids(const Batch& batch, IdOf id_of) {
  std::vector<task::TaskId> ids;
  ids.reserve(batch.size());
  for (const auto& item : batch) ids.push_back(id_of(item));
  return FieldChecks("batch")
      .between("rows", batch.size(), std::size_t{1}, kBatchRowsMax)
      .require(all_distinct(std::move(ids)), "ids", "must be distinct: send each task once")
      .result();
}

std::size_t bytes_of(const task::TaskSpec& spec) {
  std::size_t bytes = spec.payload.size();
  for (const auto& [name, value] : spec.headers) bytes += name.size() + value.size();
  return bytes;
}

Result<> check_one(const Submission& item) {
  return FieldChecks("task")
      .between("delay", item.delay, Duration::zero(), kLongestWait)
      .require(!item.claim || item.delay == Duration::zero(), "delay",
               "must be zero where the task is born claimed")
      .result();
}

bool is_kind(const task::Kind& kind) {
  return !kind.value.empty() && kind.value.size() <= task::kKindBytesMax &&
         is_plain_text(kind.value);
}

bool is_progress(const std::optional<int>& progress) {
  return !progress || (*progress >= 0 && *progress <= kProgressMax);
}

bool is_jotting(const Jotting& item) {
  return item.note.fence == item.ticket.fence && is_progress(item.note.progress);
}

void clean(std::optional<task::Reason>& reason) {
  if (!reason) return;
  reason->code = clean_text(reason->code, 100);
  reason->message = clean_text(reason->message, kErrorCharactersMax);
}

bool is_owner_name(const task::Owner& owner) {
  const std::string name = task::to_string(owner);
  const auto* worker = std::get_if<task::WorkerName>(&owner);
  return (worker == nullptr || !worker->value.empty()) && name.size() <= task::kOwnerBytesMax &&
         is_plain_text(name);
}

}  // namespace

Result<> check(std::span<const Submission> batch) { return check(pointers_to(batch)); }

Result<> check(const std::vector<const Submission*>& batch) {
  if (Result<> ids = check_ids(batch, [](const Submission* item) { return item->id; }); !ids) {
    return ids;
  }
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    bytes += bytes_of(batch[i]->spec);
    Result<> valid = task::validate(batch[i]->spec);
    if (valid) valid = check_one(*batch[i]);
    if (valid) continue;
    if (batch.size() == 1) return valid;
    return fail(ErrorCode::kInvalid,
                fmt::format("item {} of {}: {}", i + 1, batch.size(), valid.error().message));
  }
  return FieldChecks("batch").between("bytes", bytes, std::size_t{0}, kBatchBytesMax).result();
}

Result<> check(const ClaimRequest& request) {
  std::vector<task::Kind> kinds;
  FieldChecks checks("claim");
  for (const Quota& quota : request.quotas) {
    kinds.push_back(quota.kind);
    checks.between("quota.limit", quota.limit, 0, static_cast<int>(kBatchRowsMax))
        .between("quota.tenant_max", quota.tenant_max, 0, static_cast<int>(kBatchRowsMax));
  }
  const bool worker = std::holds_alternative<task::WorkerName>(request.owner);
  return checks.between("limit", request.limit, 1, static_cast<int>(kBatchRowsMax))
      .between("quotas (count)", request.quotas.size(), std::size_t{1}, kQuotasMax)
      .require(all_distinct(std::move(kinds)), "quotas", "must name each kind once")
      .require(worker == request.lease_for.has_value(), "lease_for",
               "must be given for a worker, and for a worker only")
      .between("lease_for", request.lease_for.value_or(kLeaseMin), kLeaseMin, kLeaseMax)
      .require(is_owner_name(request.owner), "owner",
               fmt::format("must have 1 to {} bytes of plain text", task::kOwnerBytesMax))
      .require(request.shards.first <= request.shards.last, "shards",
               "must have a first that is not after the last")
      .result();
}

Result<> check(std::span<const Outcome> batch) { return check(pointers_to(batch)); }

Result<> check(const std::vector<const Outcome*>& batch) {
  if (Result<> ids = check_ids(batch, [](const Outcome* item) { return item->transition.task; });
      !ids) {
    return ids;
  }
  const auto is_move = [](const Outcome* item) {
    const task::Transition& change = item->transition;
    return change.move != task::Move::kClaim && change.move != task::Move::kTakeOver &&
           task::next_state(change.from, change.move) == change.to;
  };
  const auto names_worker = [](const Outcome* item) {
    const std::optional<task::Lending>& lending = item->transition.lending;
    return lending.has_value() == (item->transition.move == task::Move::kLend) &&
           (!lending || (is_owner_name(lending->worker) && lending->lease_for >= kLeaseMin &&
                         lending->lease_for <= kLeaseMax));
  };
  const auto has_own_attempt = [](const Outcome* item) {
    // An attempt that is lent has not ended yet: it is written down when it is reported on.
    return !item->attempt ||
           (!item->transition.lending && item->attempt->task == item->transition.task &&
            item->attempt->fence == item->transition.ticket.fence);
  };
  const auto has_own_notes = [](const Outcome* item) {
    return std::ranges::all_of(item->notes, [&](const Note& note) {
      return note.task == item->transition.task && note.fence == item->transition.ticket.fence &&
             is_progress(note.progress);
    });
  };
  return FieldChecks("batch")
      .require(std::ranges::all_of(batch, has_own_notes), "notes",
               "must be of the same task and fence, with a progress of 0 to 1,000,000")
      .require(std::ranges::all_of(batch, is_move), "move",
               "must be one of the state table, and no claim")
      .require(std::ranges::all_of(batch, names_worker), "lending",
               "must name a worker in plain text and a lease of up to a day where a task is lent, "
               "and only there")
      .require(std::ranges::all_of(batch, has_own_attempt), "attempt",
               "must be of the same task, under the fence it was run with, and have ended")
      .result();
}

Result<> check_lease(Duration lease_for) {
  return FieldChecks("renew").between("lease_for", lease_for, kLeaseMin, kLeaseMax).result();
}

Result<> check(const NodeInfo& node) {
  if (Result<> name = check_actor(node.name); !name) return name;
  return FieldChecks("node")
      .between("kinds (count)", node.kinds.size(), std::size_t{0}, kNodeKindsMax)
      .require(std::ranges::all_of(node.kinds, is_kind), "kinds",
               "must be valid UTF-8 of 1 to 100 bytes without control characters")
      .result();
}

Result<> check(const task::Kind& kind) {
  return FieldChecks("kind")
      .require(is_kind(kind), "name",
               "must be valid UTF-8 of 1 to 100 bytes without control characters")
      .result();
}

Result<> check(std::span<const Held> batch) {
  return check_ids(batch, [](const Held& item) { return item.task; });
}

// No bytes: as many of the longest texts as there may be rows stay below the bound.
Result<> check(std::span<const Jotting> batch) {
  static_assert(kBatchRowsMax * kNoteCharactersMax * 4 <= kBatchBytesMax);
  return FieldChecks("batch")
      .between("rows", batch.size(), std::size_t{1}, kBatchRowsMax)
      .require(std::ranges::all_of(batch, is_jotting), "notes",
               "must be of their ticket's fence, with a progress of 0 to 1,000,000")
      .result();
}

Result<> check(const Selection& which) {
  if (const auto* ids = std::get_if<std::vector<task::TaskId>>(&which)) {
    return check_ids(*ids, [](const task::TaskId& id) { return id; });
  }
  return FieldChecks("control")
      .between("limit", std::get<ByFilter>(which).limit, std::size_t{1}, kBatchRowsMax)
      .result();
}

Result<> check(const PurgeRequest& request) {
  using task::State;
  const bool live = std::ranges::any_of(request.states, [](State state) {
    return !task::is_finished(state) && !task::needs_person(state);
  });
  if (Result<> actor = check_actor(request.by); !actor) return actor;
  return FieldChecks("purge")
      .between("limit", request.limit, std::size_t{1}, kPurgeRowsMax)
      .require(!live, "states", "must be finished states, dead or failed")
      .require(request.states.empty() || request.ended_before, "ended_before",
               "must be given with states")
      .result();
}

Result<> check_page(std::size_t limit) {
  return FieldChecks("page").between("limit", limit, std::size_t{1}, kPageRowsMax).result();
}

Result<> check_actor(std::string_view by) {
  return FieldChecks("actor")
      .between("name (bytes)", by.size(), std::size_t{1}, task::kOwnerBytesMax)
      .require(is_plain_text(by), "name", "must be valid UTF-8 without control characters")
      .result();
}

Outcome cleaned(Outcome outcome) {
  clean(outcome.transition.error);
  if (outcome.attempt) {
    clean(outcome.attempt->error);
    outcome.attempt->owner = clean_text(outcome.attempt->owner, task::kOwnerBytesMax);
  }
  for (Note& note : outcome.notes) note = cleaned(std::move(note));
  return outcome;
}

Note cleaned(Note note) {
  note.text = clean_text(note.text, kNoteCharactersMax);
  return note;
}

}  // namespace recourse::store
