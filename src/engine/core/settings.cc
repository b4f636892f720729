#include "engine/core/settings.h"

#include <algorithm>

#include "base/field_checks.h"

namespace recourse::engine {
namespace {

using namespace std::chrono_literals;

Result<> validate_node(const NodeSettings& settings) {
  const auto& executor = settings.executor;
  return FieldChecks("engine")
      .between("name (bytes)", settings.name.size(), std::size_t{1}, task::kOwnerBytesMax)
      .between("lease.ttl", settings.lease.ttl, Duration(30ms), Duration(1h))
      .between("lease.renew-ahead", settings.lease.renew_ahead, Duration(1us),
               settings.lease.ttl * 9 / 10)
      .between("scan.period", settings.scan.period, Duration(10ms), Duration(1h))
      .between("scan.initial-delay", settings.scan.initial_delay, Duration(0us), Duration(1h))
      .between("executor.core-threads", executor.core_threads, 1, 10'000)
      .between("executor.max-threads", executor.max_threads, executor.core_threads, 10'000)
      .between("executor.queue", executor.queue, 0, 1'000'000)
      .between("executor.keep-alive", executor.keep_alive, Duration(1ms), Duration(24h))
      .between("executor.in-turn-for", executor.in_turn_for, Duration(0us), Duration(1s))
      .between("executor.begin-within", executor.begin_within, Duration(1ms), Duration(1h))
      .between("sticky.up-to", settings.sticky.up_to, Duration(0us), Duration(24h))
      // Every held task may have a timer.
      .between("hold.tasks", settings.hold.tasks, std::size_t{1}, settings.wheel.max_pending)
      .between("hold.bytes", settings.hold.bytes, std::size_t{1024 * 1024}, std::size_t{1} << 40)
      .between("ingest.waiting", settings.ingest.waiting, std::size_t{1}, std::size_t{10'000'000})
      .between("ingest.waiting-bytes", settings.ingest.waiting_bytes, std::size_t{1024 * 1024},
               std::size_t{1} << 40)
      .between("ingest.calls", settings.ingest.calls, 1, 64)
      .between("apply-calls", settings.apply_calls, 1, 64)
      .between("store-timeout", settings.store_timeout, Duration(1ms), Duration(10min))
      .between("shards.first", settings.shards.first, 0, store::kShards - 1)
      .between("shards.last", settings.shards.last, settings.shards.first, store::kShards - 1)
      .between("no-handler-after", settings.no_handler_after, Duration(1s), kLongestWait)
      .result();
}

}  // namespace

Result<> validate(const NodeSettings& settings) {
  if (Result<> valid = validate_node(settings); !valid) return valid;
  if (Result<> valid = timing::validate(settings.wheel); !valid) return valid;
  return policy::validate(settings.batch);
}

Result<> validate(const KindSettings& settings) {
  const Result<> own =
      FieldChecks("kind")
          .between("concurrency", settings.concurrency, 0, 100'000)
          .between("queue", settings.queue, 0, 1'000'000)
          .between("tenant-max", settings.tenant_max, 0, static_cast<int>(store::kBatchRowsMax))
          .between("put-off-factor", settings.put_off_factor, 1.0, 1'000.0)
          .between("lease-max", settings.lease.longest, store::kLeaseMin, store::kLeaseMax)
          .between("lease", settings.lease.usual, store::kLeaseMin, settings.lease.longest)
          .result();
  if (!own) return own;
  if (Result<> valid = policy::validate(settings.breaker); !valid) return valid;
  if (settings.rate) {
    if (Result<> valid = policy::validate(*settings.rate); !valid) return valid;
  }
  if (settings.budget) {
    if (Result<> valid = policy::validate(*settings.budget); !valid) return valid;
  }
  return policy::validate(settings.backoff);
}

}  // namespace recourse::engine
