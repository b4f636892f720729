// What the routes work with, and what each of them is handed.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "api/access.h"
#include "api/problem.h"
#include "api/tokens.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "base/ulid_source.h"
#include "create/creator.h"
#include "degrade/cleaning.h"
#include "degrade/recorder.h"
#include "degrade/retry_rule.h"
#include "engine/core/happening.h"
#include "engine/executor.h"
#include "engine/lease_desk.h"
#include "engine/node.h"
#include "guard/door.h"
#include "http/message.h"
#include "http/server.h"
#include "message/envelope.h"
#include "message/feeder.h"
#include "message/records.h"
#include "notify/alerts/alert.h"
#include "notify/notifier.h"
#include "store/opened.h"
#include "task/record.h"
#include "timing/recurrence.h"

namespace recourse::api {

class BulkJobs;
class Feed;
class Figures;
class LeaseLine;

// What the configuration says of a kind, for people.
struct KindCard {
  std::string name;    // may end in a star
  std::string type;    // http, exec, worker
  std::string target;  // where its attempts go: a URL without its password, a command
  Duration timeout = std::chrono::seconds(10);
  int max_retries = 5;
};

// What the configuration says of a schedule.
struct ScheduleCard {
  std::string name;
  std::string when;  // as it was written
  timing::Recurrence recurrence;
  task::Kind kind;
  task::Tenant tenant;
};

// What the configuration says of a way to reach people.
struct ChannelCard {
  std::string name;
  std::string type;  // log, webhook, slack, ...
};

// When callers must show a token.
enum class TokenNeed : std::uint8_t {
  kNever,
  kOnceThereAreSome,  // from the next start on
  kNow,
};

// The degrade door, where this server has kinds of it.
struct DegradeDesk {
  // Empty where it has none.
  degrade::Recorder* recorder = nullptr;
  std::vector<task::Kind> kinds = {};
  Duration first_retry_after = degrade::kFirstRetryAfter;
  Duration clean_after = degrade::kCleanAfter;
};

// One source of messages: what the configuration says of it, and how it fares.
struct SourceCard {
  std::string name = {};
  std::string broker = {};   // RabbitMQ, Kafka, Redis
  std::string address = {};  // host:port, without user and password
  std::string topic = {};
  std::string group = {};
  std::string kind = {};
  task::Tenant tenant = {};
  int consumers = 1;
  // Of all its consumers together.
  message::FeederFigures figures = {};
};

// The message door, where this server has kinds of it.
struct MessageDesk {
  std::vector<task::Kind> kinds = {};
  // How long it is remembered that a consumer outside has dealt with a message.
  Duration keep_done_for = message::Handling().keep_done_for;
  Duration keep_processed = message::kKeepProcessed;
  Duration keep_ignored = message::kKeepIgnored;
  // Empty where this server consumes none itself.
  std::function<std::vector<SourceCard>()> sources = nullptr;
};

struct SubmitLimits {
  std::size_t payload_bytes = task::kPayloadBytesMax;
  // Tasks of one request.
  std::size_t batch = 1'000;
};

// All of it outlives the API.
struct Desk {
  engine::Node& node;
  store::OpenedStore& opened;
  engine::LeaseDesk& leases;
  UlidSource& ids;
  const Clock& clock;
  Log& log;
  // For what waits for the store.
  engine::Executor& pool;
  Tokens& tokens;
  TokenNeed token_need;
  BulkJobs& bulk;
  Feed& feed;
  Figures& figures;
  // What a worker's report has moved, for everybody who hears of what the engine moves.
  std::function<void(const engine::Happening&)> happened;
  LeaseLine& lease_line;
  notify::Notifier& notifier;
  std::vector<ChannelCard> channels;
  std::vector<notify::AlertDefinition> alerts;
  std::vector<KindCard> kinds;
  std::vector<ScheduleCard> schedules;
  DegradeDesk degrade;
  MessageDesk messages;
  // Empty where this server guards no table.
  const guard::Door* guards = nullptr;
  create::Creator& creator;
  std::vector<std::string> backoffs;
  SubmitLimits limits;
  std::string version;
};

struct Call {
  http::Request request;
  // What the {names} of the route's path stand for, in their order.
  std::vector<std::string> parameters;
  Identity caller;
};

// Requests that wait for a thread of the pool, at most: beyond it, come back.
inline constexpr std::size_t kWaitingMax = 1'000;
// Of every store call that a request makes.
inline constexpr Duration kPatience = std::chrono::seconds(10);

inline http::Response json_response(const boost::json::value& body, int status = 200) {
  return {.status = status,
          .headers = {{"Content-Type", "application/json"}},
          // A line of its own, for those who read it in a terminal.
          .body = boost::json::serialize(body) + "\n"};
}

inline http::Response refuse(const Error& error) { return to_response(problem_of(error)); }
inline http::Response refuse(int status, std::string detail) {
  return to_response({.status = status, .detail = std::move(detail)});
}
inline http::Response refuse(std::vector<FieldError> errors) {
  std::string detail = "correct what is listed in errors";
  if (errors.size() == 1) {
    const FieldError& error = errors.front();
    detail = error.pointer.empty() ? error.detail : error.pointer + " " + error.detail;
  }
  return to_response({.status = 422, .detail = std::move(detail), .errors = std::move(errors)});
}

}  // namespace recourse::api
