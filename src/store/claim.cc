// claim: by priority, a tenth by age, tenants in turns where the caller asks for it.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "store/batch.h"
#include "store/books.h"
#include "store/claim_share.h"
#include "store/transactional_store.h"

namespace recourse::store {
namespace {

class ClaimRun {
 public:
  ClaimRun(const ClaimRequest& request, std::uint32_t turn, const Retention& retention)
      : request_(request), turn_(turn), retention_(retention) {}

  Result<> operator()(Transaction& transaction) {
    claimed_ = {};
    claimed_and_ended_ = 0;
    taken_of_.clear();
    taken_of_tenant_.clear();
    books_ = {};
    requested_ = {};
    if (Result<> step = take_by_priority(transaction); !step) return step;
    if (Result<> step = take_oldest(transaction); !step) return step;
    if (Result<> step = requested_.write(transaction); !step) return step;
    return books_.write(transaction);
  }

  Claimed result() && { return std::move(claimed_); }

 private:
  [[nodiscard]] std::size_t room() const {
    return static_cast<std::size_t>(request_.limit) - claimed_and_ended_;
  }
  [[nodiscard]] static bool is_fair(const Quota& quota) {
    return quota.tenant_max > 0 && quota.tenant_max < quota.limit;
  }
  [[nodiscard]] int by_priority(const Quota& quota) const {
    return wanted_of(quota) - oldest_share(wanted_of(quota), turn_);
  }
  // Of the whole claim. Where each kind can have all it wants, the kinds' own tenths are enough.
  [[nodiscard]] int by_priority() const {
    return kinds_compete() ? request_.limit - oldest_share(request_.limit, turn_) : request_.limit;
  }
  [[nodiscard]] bool kinds_compete() const {
    int wanted = 0;
    for (const Quota& quota : request_.quotas) wanted += wanted_of(quota);
    return wanted > request_.limit;
  }
  [[nodiscard]] int wanted_of(const Quota& quota) const {
    return std::min(quota.limit, request_.limit);
  }

  Result<> take_by_priority(Transaction& transaction) {
    Shares plain{.kinds = {}, .limit = by_priority()};
    for (const Quota& quota : request_.quotas) {
      const int limit = by_priority(quota);
      // Kinds that compete do so by age too.
      const int alone = kinds_compete() ? limit : wanted_of(quota);
      if (alone > 0 && !is_fair(quota)) {
        plain.kinds.push_back({.kind = quota.kind, .limit = limit, .limit_alone = alone});
      }
    }
    // Always asked, also for nothing: the answer tells the store's time.
    Result<TakenBatch> taken = transaction.take_due(request_, plain);
    if (!taken) return fail(taken.error());
    claimed_.now = taken->now;
    accept(std::move(taken->tasks));
    for (const Quota& quota : request_.quotas) {
      if (!is_fair(quota)) continue;
      if (Result<> step = take_fairly(transaction, quota); !step) return step;
    }
    return {};
  }

  Result<> take_fairly(Transaction& transaction, const Quota& quota) {
    const auto whole = static_cast<std::size_t>(by_priority());
    if (claimed_and_ended_ >= whole) return {};
    const std::size_t limit =
        std::min(static_cast<std::size_t>(by_priority(quota)), whole - claimed_and_ended_);
    auto candidates = transaction.due_candidates(quota.kind, request_.shards, kFairWindow);
    if (!candidates) return fail(candidates.error());
    return take_these(transaction, pick_fairly(std::move(*candidates), limit,
                                               static_cast<std::size_t>(quota.tenant_max)));
  }

  // Only where more was due than was let through can anything starve.
  Result<> take_oldest(Transaction& transaction) {
    const bool is_full = claimed_and_ended_ >= static_cast<std::size_t>(by_priority());
    std::vector<Candidate> oldest;
    std::set<task::TaskId> chosen;
    for (const Quota& quota : request_.quotas) {
      const int taken = taken_of_[quota.kind];
      const auto left = std::min(static_cast<std::size_t>(wanted_of(quota) - taken), room());
      if (left == 0 || (!is_full && taken < by_priority(quota))) continue;
      const std::size_t window = is_fair(quota) ? kFairWindow : left;
      auto candidates = transaction.due_candidates(quota.kind, request_.shards, window);
      if (!candidates) return fail(candidates.error());
      if (is_fair(quota)) *candidates = in_turns(std::move(*candidates), left, taken_of_tenant_);
      for (const task::TaskId& id : pick_oldest(*candidates, left)) chosen.insert(id);
      std::ranges::move(*candidates, std::back_inserter(oldest));
    }
    // No kind beyond its quota.
    std::erase_if(oldest, [&](const Candidate& item) { return !chosen.contains(item.task); });
    return take_these(transaction, pick_oldest(std::move(oldest), room()));
  }

  Result<> take_these(Transaction& transaction, std::vector<task::TaskId> ids) {
    if (ids.empty()) return {};
    std::ranges::sort(ids);
    Result<TakenBatch> taken = transaction.take(request_, ids);
    if (!taken) return fail(taken.error());
    accept(std::move(taken->tasks));
    return {};
  }

  void accept(std::vector<Taken> batch) {
    claimed_.tasks.reserve(claimed_.tasks.size() + batch.size());
    for (Taken& taken : batch) {
      ++claimed_and_ended_;
      ++taken_of_[taken.task.spec.kind];
      ++taken_of_tenant_[taken.task.spec.tenant];
      if (taken.from == task::State::kRunning) note_takeover(taken);
      const auto instead = task::plan_instead_of_run(taken.task, claimed_.now);
      if (taken.from == task::State::kRunning && instead) {
        end_here(std::move(taken), *instead);
      } else {
        books_.moved(taken.task.spec.kind, taken.from, task::State::kRunning);
        claimed_.tasks.push_back(std::move(taken.task));
      }
    }
  }

  void note_takeover(const Taken& taken) {
    books_.noted({.at = claimed_.now,
                  .task = taken.task.id,
                  .actor = task::to_string(request_.owner),
                  .action = "take_over",
                  .detail = "the lease of " + taken.owner + " had ended",
                  .fence = taken.task.ticket.fence});
  }

  void end_here(Taken taken, const task::Transition& change) {
    const bool as_requested = change.move == taken.task.requested;
    books_.noted({.at = claimed_.now,
                  .task = taken.task.id,
                  .actor = task::to_string(request_.owner),
                  .action = std::string(task::to_string(change.move)),
                  .detail = as_requested ? "as requested" : "its owners died",
                  .fence = task::next(taken.task.ticket.fence)});
    requested_.changed(task::apply(std::move(taken.task), change), taken.from, retention_, books_);
  }

  const ClaimRequest& request_;
  const std::uint32_t turn_;
  const Retention& retention_;
  std::size_t claimed_and_ended_ = 0;
  std::map<task::Kind, int> taken_of_;
  std::map<task::Tenant, std::size_t> taken_of_tenant_;
  Claimed claimed_;
  ChangedRows requested_;
  Books books_;
};

}  // namespace

Result<Claimed> TransactionalStore::claim(const ClaimRequest& request, Duration within) {
  if (Result<> valid = check(request); !valid) return fail(valid.error());
  // Relaxed: only the long-run share matters.
  ClaimRun run(request, claims_.fetch_add(1, std::memory_order_relaxed), retention_);
  if (const Result<> ran = backend_.run(Line::kWork, Repeat::kInDoubt, within, run); !ran) {
    return fail(ran.error());
  }
  return std::move(run).result();
}

}  // namespace recourse::store
