// What a node is told about itself and about the kinds it runs. The defaults are the product's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "policy/backoff.h"
#include "policy/batch_controller.h"
#include "policy/circuit_breaker.h"
#include "policy/retry_budget.h"
#include "policy/token_bucket.h"
#include "store/limits.h"
#include "store/work.h"
#include "timing/wheel_settings.h"

namespace recourse::engine {

// With a call out, fewer than these wait for its end: transactions, not rows, are what costs.
inline constexpr std::size_t kWorthAnotherCall = 64;

struct LeaseSettings {
  // A node that has not been heard of for this long may be declared dead.
  Duration ttl = std::chrono::seconds(30);
  // A heartbeat comes at least this long before the lease would end.
  Duration renew_ahead = std::chrono::seconds(10);
};

// Never on the TTL's own period: one late heartbeat must not lose the node.
constexpr Duration heartbeat_interval(const LeaseSettings& lease) {
  return std::min(lease.ttl / 3, lease.ttl - lease.renew_ahead);
}
// From the sending of the last heartbeat that succeeded: then the node stops starting anything,
// before somebody else may think it dead.
constexpr Duration fenced_after(const LeaseSettings& lease) { return lease.ttl - lease.ttl / 10; }

struct ScanSettings {
  Duration initial_delay = std::chrono::seconds(1);
  Duration period = std::chrono::seconds(2);
};

// What becomes of a task when every thread is busy and the executor's queue is full.
enum class Rejection : std::uint8_t {
  kCallerRuns,  // the thread that hands tasks over runs it, and hands over nothing meanwhile
  kHandBack,    // back to the store, due now: another node may have room
  kRefuse,      // put off, as by an open breaker
};

inline constexpr std::array kAllRejections{Rejection::kCallerRuns, Rejection::kHandBack,
                                           Rejection::kRefuse};

constexpr std::string_view to_string(Rejection rejection) {
  switch (rejection) {
    case Rejection::kCallerRuns: return "caller_runs";
    case Rejection::kHandBack: return "hand_back";
    case Rejection::kRefuse: return "refuse";
  }
  std::abort();
}

struct ExecutorSettings {
  int core_threads = 8;
  int max_threads = 32;
  int queue = 1'000;
  Duration keep_alive = std::chrono::seconds(60);
  // Short handlers of one kind are called in turn by one thread, about this long.
  Duration in_turn_for = std::chrono::microseconds(500);
  // What has not been called by then is taken back and handed over anew.
  Duration begin_within = std::chrono::milliseconds(20);
  Rejection rejection = Rejection::kCallerRuns;
};

struct StickySettings {
  bool enable = true;
  // Longer waits go back to the store, so that they do not fill the wheel.
  Duration up_to = std::chrono::seconds(60);
};

// What a node holds of the store's work at most.
struct HoldSettings {
  std::size_t tasks = 100'000;
  std::size_t bytes = std::size_t{64} * 1024 * 1024;
};

struct IngestSettings {
  // Submits that wait to be written; beyond it callers are told to come back.
  std::size_t waiting = 10'000;
  std::size_t waiting_bytes = std::size_t{32} * 1024 * 1024;
  // Insert calls at once. While they are out, the next batch gathers.
  int calls = 2;
};

struct NodeSettings {
  // For people: host and process, or a name from the configuration.
  std::string name = "node";
  LeaseSettings lease;
  ScanSettings scan;
  ExecutorSettings executor;
  timing::WheelSettings wheel;
  policy::BatchSettings batch;
  StickySettings sticky;
  HoldSettings hold;
  IngestSettings ingest;
  // Apply calls at once.
  int apply_calls = 2;
  // Of every store call but the heartbeat, which has its own interval.
  Duration store_timeout = std::chrono::seconds(10);
  // Only one process can have this store: all other incarnations are dead.
  bool exclusive_store = false;
  store::ShardRange shards;
  // A kind that no live node has handled for this long is nobody's.
  Duration no_handler_after = std::chrono::minutes(10);
};

Result<> validate(const NodeSettings& settings);

// Of a worker's task, and of one that a called service goes on with.
struct LeaseTimes {
  // Where nothing is asked for.
  Duration usual = std::chrono::seconds(30);
  Duration longest = std::chrono::hours(1);
};

// One kind on this node.
struct KindSettings {
  // Handlers of it at once; zero means a quarter of the executor's threads.
  int concurrency = 0;
  // Tasks of it that wait here for a free place, at most. How many really do follows from how long
  // its handlers take.
  int queue = 4'000;
  // While others wait, one tenant may have this many of a claim; zero means first come, first
  // served.
  int tenant_max = 0;
  policy::BreakerSettings breaker;
  bool breaker_enabled = true;
  std::optional<policy::RateSettings> rate;
  // The rate and the concurrency are the cluster's, divided by its live nodes.
  bool cluster_wide = false;
  std::optional<policy::BudgetSettings> budget;
  policy::BackoffSettings backoff;
  // How much longer than usual an open breaker puts off.
  double put_off_factor = 4.0;
  // Its handlers return at once and complete later: they hold no thread of the executor.
  bool asynchronous = false;
  // Leased by programs outside (lease_desk.h): this node knows its rules and runs none of it.
  bool outside = false;
  LeaseTimes lease;
  // Asked "is it already done?" after a time-out or a takeover.
  bool has_probe = false;
};

Result<> validate(const KindSettings& settings);

}  // namespace recourse::engine
