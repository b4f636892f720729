// The sources' own blocks, `retry:` and `abnormal:`, as they stand: their names, their bare
// numbers, their capitals. What we add to them goes in the same places.
#include <array>

#include "app/config/keys.h"
#include "app/config/rows.h"
#include "engine/core/settings.h"
#include "task/record.h"
#include "timing/occupancy.h"

namespace recourse::app {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kStoresChoose =
    "every store uses the transactions and the isolation that its guarantees are proved under";

Keys stick_keys(engine::NodeSettings& node) {
  return {
      boolean("enable", at(node.sticky.enable),
              {"Short retries wait on the node that has the task, which saves a claim; false sends "
               "every retry back to the store."}),
      duration("lease-ttl", at(node.lease.ttl), 30ms, 1h,
               {"A node that was not heard of for this long may be declared dead, and others take "
                "over its tasks."}),
      duration("renew-ahead", at(node.lease.renew_ahead), 1us, 1h,
               {"A heartbeat comes at least this long before the lease would end; at most nine "
                "tenths of lease-ttl."}),
      duration("up-to", at(node.sticky.up_to), 0us, 24h,
               {"Longer waits than this go back to the store even where sticky retries are on."}),
  };
}

Keys tx_keys(Config& config) {
  return {
      unused_but_default(
          kStoresChoose,
          one_of("propagation", at(config.later.propagation), {"REQUIRED", "REQUIRES_NEW"},
                 {"Whether a store call joins the caller's transaction."})),
      unused_but_default(kStoresChoose, boolean("read-only", at(config.later.read_only),
                                                {"Whether transactions are read-only."})),
      unused_but_default(kStoresChoose, one_of("isolation", at(config.later.isolation),
                                               {"DEFAULT", "READ_UNCOMMITTED", "READ_COMMITTED",
                                                "REPEATABLE_READ", "SERIALIZABLE"},
                                               {"The isolation of store transactions."})),
      seconds("timeout-seconds", at(config.node.store_timeout), 1ms, 10min,
              {"How long a call to the store may take."}),
  };
}

Keys wheel_keys(engine::NodeSettings& node) {
  return {
      duration("tick-duration", at(node.wheel.tick), 1ms, 1h,
               {"How much timers are bunched: a task wakes at the end of the tick its time falls "
                "into."}),
      count("ticks-per-wheel", at(node.wheel.slots), 2, timing::Occupancy::kSlotsMax,
            {"Slots of each level of the timing wheel; the next power of two is used."}),
      count("max-pending-timeouts", at(node.wheel.max_pending), 1, 100'000'000,
            {"How many waiting tasks a node holds at most; the rest waits in the store."}),
  };
}

Keys scan_keys(engine::NodeSettings& node) {
  return {
      milliseconds("initial-delay", at(node.scan.initial_delay), 0us, 1h,
                   {"How long after the start the first scan for due tasks comes."}),
      milliseconds("period", at(node.scan.period), 10ms, 1h,
                   {"How often the store is asked for due tasks."}),
      integer("batch", at(node.batch.initial), 1, 100'000,
              {"How many tasks a scan takes at the start; from there it follows the load."}),
      integer("batch-min", at(node.batch.min), 1, 100'000,
              {"The fewest tasks that a scan takes under pressure."}),
      integer("batch-max", at(node.batch.max), 1, 100'000,
              {"The most tasks that a scan takes when all is calm."}),
  };
}

Keys executor_keys(engine::ExecutorSettings& executor) {
  return {
      integer("core-pool-size", at(executor.core_threads), 1, 10'000,
              {"Threads that run handlers and stay."}),
      integer("max-pool-size", at(executor.max_threads), 1, 10'000,
              {"Threads at most, while there is much to do."}),
      integer("queue-capacity", at(executor.queue), 0, 1'000'000,
              {"Tasks that wait for a thread at most."}),
      duration("keep-alive", at(executor.keep_alive), 1ms, 24h,
               {"How long a thread beyond core-pool-size waits for work before it ends."}),
      choice("rejected-handler", at(executor.rejection), engine::kAllRejections,
             {"What becomes of a task when every thread is busy and the queue is full: CALLER_RUNS "
              "runs it on the thread that hands over, HAND_BACK returns it to the store, REFUSE "
              "puts it off."},
             Spelling::kCapitals),
  };
}

// As the sources have them; channels, rules and the rest are under `notify`.
Keys sending_keys(NotifyConfig& config) {
  notify::DispatchSettings& dispatch = config.settings.dispatch;
  notify::RateLimitSettings& limit = config.settings.rate_limit;
  return {
      boolean("enabled", at(config.enabled), {"Whether notifications are sent."}),
      integer("async.core-pool-size", at(dispatch.threads_core), 1, notify::kThreadsMax,
              {"Threads that send and stay."}),
      integer("async.max-pool-size", at(dispatch.threads_max), 1, notify::kThreadsMax,
              {"Threads that send, at most."}),
      integer("async.queue-capacity", at(dispatch.queue_max), 1, notify::kQueueMax,
              {"Notifications that wait to be sent, at most."}),
      duration("async.keep-alive", at(dispatch.keep_alive), 1ms, notify::kKeepAliveMax,
               {"How long an idle sending thread beyond the core waits before it ends."}),
      duration("rate-limit.window", at(limit.window), 1ms, notify::kWindowMax,
               {"The window of the rate limit."}),
      integer("rate-limit.threshold", at(limit.threshold), 1, notify::kThresholdMax,
              {"Notifications of one event and kind within the window, at most; the others are "
               "summed up in the next."}),
  };
}

}  // namespace

Keys backoff_keys(policy::BackoffSettings& backoff) {
  return {
      one_of("strategy", at(backoff.strategy), policy::BackoffRegistry().names(),
             {"How the wait between attempts grows; message is exponential without jitter."}),
      duration("base", at(backoff.base), 1ms, kLongestWait, {"The wait before the first retry."}),
      duration("min", at(backoff.min), 0us, kLongestWait, {"No wait is shorter."}),
      duration("max", at(backoff.max), 1ms, kLongestWait,
               {"No wait is longer, whatever a downstream asks for."}),
      choice("jitter", at(backoff.jitter), policy::kAllJitters,
             {"How waits are spread, so that a crowd does not come back together: ratio is plus or "
              "minus jitter-ratio, equal half to all of the wait, full zero to all."}),
      number("jitter-ratio", at(backoff.jitter_ratio), 0.0, 1.0,
             {"How far the jitter `ratio` spreads, as a share of the wait."}),
  };
}

Keys retry_keys(Config& config) {
  Keys keys;
  append(keys, "retry.stick", stick_keys(config.node));
  append(keys, "retry.tx", tx_keys(config));
  append(keys, "retry.wheel", wheel_keys(config.node));
  append(keys, "retry.scan", scan_keys(config.node));
  append(keys, "retry.executor", executor_keys(config.node.executor));
  append(keys, "retry.backoff", backoff_keys(config.defaults.settings.backoff));
  append(keys, "retry",
         {integer("default-max-retry", at(config.defaults.max_retries), 0, task::kRetriesMax,
                  {"Retries of a task whose submitter and kind do not say."}),
          duration("default-execute-timeout", at(config.defaults.timeout), 1ms, 24h,
                   {"How long an attempt may take where its submitter and kind do not say."})});
  append(keys, "retry.notify", sending_keys(config.notify));
  append(keys, "abnormal.retry",
         {seconds("scan-interval-seconds", at(config.abnormal.scan_interval), 1s, 24h,
                  {"How often guarded tables are scanned, where a guard does not say."}),
          text("mail-from", at(config.abnormal.mail_from),
               {"The sender of e-mails about guarded rows, and of e-mail channels without one.",
                Reload::kRestart, "recourse@example.com"}),
          list("mail-to", at(config.abnormal.mail_to),
               {"Who gets an e-mail about every guarded row that needs a person, whatever the "
                "rules of notify say. Sent through the server of an e-mail channel of "
                "notify.channels.",
                Reload::kRestart, "[ops@example.com]"})});
  return keys;
}

}  // namespace recourse::app
