// The life of nodes: join, heartbeat, declare_dead, adopt, and the pauses they confirm.
#include <fmt/format.h>

#include "base/planted_bug.h"
#include "base/text.h"
#include "store/batch.h"
#include "store/books.h"
#include "store/transactional_store.h"
#include "task/control.h"

namespace recourse::store {
namespace {

constexpr std::size_t kAdoptedPerCall = kBatchRowsMax;

AuditEntry node_entry(TimePoint at, task::Incarnation node, std::string_view by,
                      std::string_view action) {
  return {.at = at,
          .task = std::nullopt,
          .actor = std::string(by),
          .action = std::string(action),
          .detail = task::to_string(task::Owner(node)),
          .fence = {}};
}

class AdoptRun {
 public:
  AdoptRun(std::string_view by, const Retention& retention) : by_(by), retention_(retention) {}

  Result<> operator()(Transaction& transaction) {
    adopted_ = {};
    Books books;
    ChangedRows rows;
    const auto owners = transaction.lifeless_owners();
    if (!owners) return fail(owners.error());
    if (owners->empty()) return transaction.fold_counts();
    const Result<TimePoint> now = transaction.now();
    if (!now) return fail(now.error());
    for (const task::Incarnation& owner : *owners) {
      const std::size_t room = kAdoptedPerCall - adopted_.tasks;
      if (room == 0) break;
      auto orphans = transaction.lock_owned(owner, room);
      if (!orphans) return fail(orphans.error());
      for (task::Task& orphan : *orphans) adopt(std::move(orphan), *now, rows, books);
      adopted_.tasks += orphans->size();
    }
    adopted_.more = adopted_.tasks == kAdoptedPerCall;
    if (Result<> written = rows.write(transaction); !written) return written;
    if (Result<> written = books.write(transaction); !written) return written;
    return transaction.fold_counts();
  }

  [[nodiscard]] Adopted result() const { return adopted_; }

 private:
  void adopt(task::Task orphan, TimePoint now, ChangedRows& rows, Books& books) {
    const task::State before = orphan.state;
    const task::Transition change = task::plan_adoption(orphan, now);
    books.noted({.at = now,
                 .task = orphan.id,
                 .actor = std::string(by_),
                 .action = std::string(task::to_string(change.move)),
                 .detail = fmt::format("its owner {} is dead",
                                       orphan.owner ? task::to_string(*orphan.owner) : "(none)"),
                 .fence = task::next(orphan.ticket.fence)});
    task::Task freed = task::apply(std::move(orphan), change);
    if (planted(PlantedBug::kAdoptKeepsFence)) freed.ticket.fence = change.ticket.fence;
    if (planted(PlantedBug::kAdoptedAsPaused)) freed.state = task::State::kPaused;
    Books nowhere;
    rows.changed(std::move(freed), before, retention_,
                 planted(PlantedBug::kCountsNotMoved) ? nowhere : books);
  }

  std::string_view by_;
  const Retention& retention_;
  Adopted adopted_;
};

}  // namespace

Result<Joined> TransactionalStore::join(const NodeInfo& node, Duration within) {
  if (Result<> valid = check(node); !valid) return fail(valid.error());
  Joined joined;
  const auto enter = [&](Transaction& transaction) -> Result<> {
    const Result<TimePoint> now = transaction.now();
    if (!now) return fail(now.error());
    joined.now = *now;
    if (Result<> inserted = transaction.insert_node(node); !inserted) return inserted;
    Books books;
    books.noted(node_entry(*now, node.incarnation, node.name, "node_joined"));
    return books.write(transaction);
  };
  if (const Result<> ran = backend_.run(Line::kHeart, Repeat::kHarmless, within, enter); !ran) {
    return fail(ran.error());
  }
  // In a transaction of its own, after the row is committed: whoever pauses a kind then either sees
  // this node and waits for it, or was seen by it.
  const auto look = [&](Transaction& transaction) -> Result<> {
    Result<Pauses> pauses = transaction.pauses();
    if (!pauses) return fail(pauses.error());
    joined.pauses = std::move(*pauses);
    return {};
  };
  if (const Result<> ran = backend_.run(Line::kHeart, Repeat::kHarmless, within, look); !ran) {
    return fail(ran.error());
  }
  return joined;
}

Result<Pulse> TransactionalStore::heartbeat(task::Incarnation node, std::int64_t pauses_seen,
                                            Duration within) {
  Pulse pulse;
  bool alive = false;
  const auto work = [&](Transaction& transaction) -> Result<> {
    const Result<bool> beaten = transaction.beat(node, pauses_seen);
    if (!beaten) return fail(beaten.error());
    alive = *beaten;
    if (!alive) return {};
    const Result<TimePoint> now = transaction.now();
    if (!now) return fail(now.error());
    Result<Pauses> pauses = transaction.pauses();
    if (!pauses) return fail(pauses.error());
    auto requests = transaction.requests_for(node);
    if (!requests) return fail(requests.error());
    pulse = {.now = *now, .pauses = std::move(*pauses), .requests = std::move(*requests)};
    return {};
  };
  if (const Result<> ran = backend_.run(Line::kHeart, Repeat::kHarmless, within, work); !ran) {
    return fail(ran.error());
  }
  if (!alive) {
    return fail(ErrorCode::kConflict, task::to_string(task::Owner(node)) +
                                          " was declared dead, or never joined: drop what has not "
                                          "started and join as a new incarnation");
  }
  return pulse;
}

Result<bool> TransactionalStore::declare_dead(task::Incarnation node, std::int64_t beat_seen,
                                              std::string_view by, Duration within) {
  if (Result<> valid = check_actor(by); !valid) return fail(valid.error());
  bool dead = false;
  const auto work = [&](Transaction& transaction) -> Result<> {
    const auto death = transaction.mark_dead(node, beat_seen);
    if (!death) return fail(death.error());
    dead = *death != Transaction::Death::kAlive;
    if (*death != Transaction::Death::kDeclared) return {};
    const Result<TimePoint> now = transaction.now();
    if (!now) return fail(now.error());
    Books books;
    books.noted(node_entry(*now, node, by, "node_dead"));
    return books.write(transaction);
  };
  if (const Result<> ran = backend_.run(Line::kHeart, Repeat::kHarmless, within, work); !ran) {
    return fail(ran.error());
  }
  return dead;
}

Result<Adopted> TransactionalStore::adopt(std::string_view by, Duration within) {
  if (Result<> valid = check_actor(by); !valid) return fail(valid.error());
  AdoptRun run(by, retention_);
  if (const Result<> ran = backend_.run(Line::kWork, Repeat::kHarmless, within, run); !ran) {
    return fail(ran.error());
  }
  return run.result();
}

Result<std::int64_t> TransactionalStore::pause_kind(const task::Kind& kind, bool paused,
                                                    std::string_view by, Duration within,
                                                    std::string_view reason) {
  if (Result<> valid = check_actor(by); !valid) return fail(valid.error());
  if (Result<> valid = check(kind); !valid) return fail(valid.error());
  std::string detail = kind.value;
  if (!reason.empty()) detail += ": " + clean_text(reason, task::kReasonBytesMax);
  std::int64_t version = 0;
  const auto work = [&](Transaction& transaction) -> Result<> {
    const auto set = transaction.set_pause(kind, paused, by);
    if (!set) return fail(set.error());
    version = *set;
    const Result<TimePoint> now = transaction.now();
    if (!now) return fail(now.error());
    Books books;
    books.noted({.at = *now,
                 .task = std::nullopt,
                 .actor = std::string(by),
                 .action = paused ? "kind_paused" : "kind_resumed",
                 .detail = detail,
                 .fence = {}});
    return books.write(transaction);
  };
  if (const Result<> ran = backend_.run(Line::kWork, Repeat::kHarmless, within, work); !ran) {
    return fail(ran.error());
  }
  return version;
}

}  // namespace recourse::store
