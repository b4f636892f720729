// The verbs of Store, written once over a Backend's transactions.
#pragma once

#include <atomic>
#include <cstdint>

#include "store/backend.h"
#include "store/retention.h"
#include "store/store.h"

namespace recourse::store {

class TransactionalStore final : public Store {
 public:
  TransactionalStore(Backend& backend, Retention retention)
      : backend_(backend), retention_(std::move(retention)) {}

  Result<InsertAnswer> insert(std::span<const Submission> batch, Novelty novelty,
                              Duration within) override;
  Result<InsertAnswer> insert_alone(const Submission& submission, Novelty novelty,
                                    Duration within) override;
  Result<Claimed> claim(const ClaimRequest& request, Duration within) override;
  Result<std::vector<Applied>> apply(std::span<const Outcome> batch, Duration within) override;
  Result<std::vector<bool>> record_starts(std::span<const Held> batch, Duration within) override;
  Result<std::vector<std::optional<TimePoint>>> renew(std::span<const Held> batch,
                                                      Duration lease_for, Duration within) override;
  Result<std::vector<bool>> note(std::span<const Jotting> batch, Duration within) override;
  Result<Joined> join(const NodeInfo& node, Duration within) override;
  Result<Pulse> heartbeat(task::Incarnation node, std::int64_t pauses_seen,
                          Duration within) override;
  Result<bool> declare_dead(task::Incarnation node, std::int64_t beat_seen, std::string_view by,
                            Duration within) override;
  Result<Adopted> adopt(std::string_view by, Duration within) override;
  Result<ControlAnswer> control(const Selection& which, const task::Order& order,
                                std::string_view by, Duration within) override;
  Result<std::int64_t> pause_kind(const task::Kind& kind, bool paused, std::string_view by,
                                  Duration within, std::string_view reason) override;
  Result<std::size_t> purge(const PurgeRequest& request, Duration within) override;

 private:
  Backend& backend_;
  const Retention retention_;
  // Spreads the tenth that goes to the oldest over claims of fewer than ten.
  std::atomic<std::uint32_t> claims_ = 0;
};

}  // namespace recourse::store
