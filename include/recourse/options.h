// What may be said when an engine is opened, a kind registered, a task submitted. The defaults are
// the product's.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "recourse/time.h"

namespace recourse {

// Every task falls into one of 256 shards by its shard key. Inclusive.
struct Shards {
  int first = 0;
  int last = 255;
};

// What a router may look at.
struct ToRoute {
  const std::string& kind;
  const std::string& tenant;
  const std::string& payload;
};

struct EngineOptions {
  // sqlite:FILE, postgres://..., mysql://... or memory: (for tests: gone with the process).
  std::string store = "sqlite:recourse.db";
  // For people: how this node is called. Empty: host and process.
  std::string node = {};
  // A node that has not been heard of for this long is taken for dead, and others go on.
  Duration lease_ttl = std::chrono::seconds(30);
  Duration renew_ahead = std::chrono::seconds(10);
  Duration scan_period = std::chrono::seconds(2);
  int core_threads = 8;
  int max_threads = 32;
  int executor_queue = 1'000;
  // Retries wait on the node that has the task, where they are short.
  bool sticky = true;
  std::size_t max_held_bytes = std::size_t{64} * 1024 * 1024;
  Duration store_timeout = std::chrono::seconds(10);
  // This node runs tasks of these shards only, its own submits included.
  Shards shards = {};
  // Chooses the shard key of a task that was submitted without one, such as its tenant or its
  // region. From any thread; what it throws refuses the submit. Schedules name theirs themselves.
  std::function<std::string(const ToRoute&)> router = nullptr;
  // Told what the engine logs: `line` begins with the level (debug, info, warning or error). From
  // any thread, and quickly. Without it, warnings and errors go to standard error.
  std::function<void(std::string_view level, std::string_view line)> log = nullptr;
};

struct RateLimit {
  double per_second = 100;
  int burst = 100;
};

struct KindOptions {
  // Handlers of it at once; zero means a quarter of the threads.
  int concurrency = 0;
  // fixed, linear, exponential, message, or one added with add_backoff.
  std::string backoff = "exponential";
  Duration backoff_base = std::chrono::seconds(1);
  Duration backoff_min = std::chrono::milliseconds(500);
  Duration backoff_max = std::chrono::seconds(300);
  double jitter = 0.2;
  std::optional<RateLimit> rate = std::nullopt;
  // Rate and concurrency are the whole cluster's, divided by its live nodes.
  bool cluster_wide = false;
  // At most this many of one tenant in a claim while others wait; zero: first come, first served.
  int tenant_max = 0;
  // The breaker opens at this share of failed or timed-out calls of the last `breaker_calls`.
  bool breaker = true;
  int breaker_calls = 100;
  int breaker_min_calls = 20;
  double breaker_failure_ratio = 0.5;
  Duration breaker_open_for = std::chrono::seconds(30);
  int breaker_probes = 5;
};

struct SubmitOptions {
  int max_retries = 5;
  // 0 to 10, larger first.
  int priority = 5;
  // Of each attempt.
  Duration timeout = std::chrono::seconds(10);
  std::optional<Deadline> deadline = std::nullopt;
  Duration delay = Duration::zero();
  // A name of its own instead of the kind's.
  std::string backoff = {};
  // At most one unfinished task of a tenant and kind has it; submitting another answers its id.
  std::string unique_key = {};
  std::string tenant = {};
  std::string shard_key = {};
  std::map<std::string, std::string> headers = {};
  // A few business keys (member, order) by which people find the task.
  std::map<std::string, std::string> search_keys = {};
  std::string trace_parent = {};
  // From new_id(): submitting again under the same id is harmless.
  std::string id = {};
};

struct Submission {
  std::string kind;
  std::string payload = {};
  SubmitOptions options = {};
};

}  // namespace recourse
