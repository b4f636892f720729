#include "app/guard_calls.h"

#include <fmt/format.h>

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/target.h"
#include "base/mutex.h"
#include "base/text.h"
#include "http/webhook_signature.h"

namespace recourse::app {
namespace {

// Of an answer only one word is wanted, and its beginning where it is a complaint.
constexpr std::size_t kAnswerBytesMax = std::size_t{16} * 1024;
constexpr std::size_t kComplaintBytesMax = 200;
// Rows whose `handle` said that it succeeded, until they are checked.
constexpr std::size_t kSaidSoMax = 10'000;

boost::json::value to_json(const guard::RowId& id) {
  return std::visit([](const auto& value) { return boost::json::value(value); }, id);
}

// Waits for the answer, and no longer than it is wanted.
http::CallResult fetch(http::Client& client, http::Call call, const std::stop_token& stop) {
  const auto answer = std::make_shared<std::promise<http::CallResult>>();
  std::future<http::CallResult> ended = answer->get_future();
  const http::CallId id = client.send(
      std::move(call), [answer](http::CallResult result) { answer->set_value(std::move(result)); });
  const std::stop_callback cut_off(stop, [&client, id] { client.cancel(id); });
  return ended.get();
}

// {"success": ...}; empty where it does not say.
std::optional<bool> success_of(const std::string& body) {
  boost::json::error_code error;
  const boost::json::value parsed = boost::json::parse(body, error);
  if (error || !parsed.is_object()) return std::nullopt;
  const boost::json::value* said = parsed.as_object().if_contains("success");
  return said != nullptr && said->is_bool() ? std::optional(said->as_bool()) : std::nullopt;
}

class Calls {
 public:
  Calls(const GuardConfig& config, Target check, Target handle, guard::GuardedTable& table,
        http::Client& client, const Clock& clock)
      : settings_(config.settings),
        check_(std::move(check)),
        handle_(std::move(handle)),
        table_(table),
        client_(client),
        clock_(clock) {}

  bool check(const guard::RowCall& call) {
    if (check_.url.empty()) return says_so_itself(call);
    // A question of its own each time: who remembers what was answered must not say it again.
    const http::Answer answer =
        ask("check", check_, call,
            fmt::format("{}.check{}", task::to_string(call.task), checks_.fetch_add(1) + 1));
    const std::optional<bool> success = success_of(answer.body);
    if (!success) {
      throw std::runtime_error(
          R"(check must answer {"success": true} or {"success": false}, not )" +
          shown(answer.body.substr(0, kComplaintBytesMax)));
    }
    return *success;
  }

  bool handle(const guard::RowCall& call) {
    if (handle_.url.empty()) return false;
    const std::optional<bool> success =
        success_of(ask("handle", handle_, call, task::to_string(call.task)).body);
    if (check_.url.empty() && success.value_or(false)) remember(call);
    return success.value_or(true);
  }

 private:
  bool says_so_itself(const guard::RowCall& call) {
    if (was_said(call)) return true;
    const auto row = table_.find(call.id, call.time_left);
    if (!row) throw std::runtime_error("the row could not be read: " + row.error().message);
    return *row && (*row)->business_status == settings_.success_value;
  }

  http::Answer ask(std::string_view what, const Target& target, const guard::RowCall& call,
                   const std::string& message) {
    http::CallResult result = fetch(client_, request(target, call, message), call.stop);
    if (const auto* failed = std::get_if<http::CallFailed>(&result)) {
      throw std::runtime_error(fmt::format("{} was not answered: {}", what, failed->message));
    }
    auto& answer = std::get<http::Answer>(result);
    if (answer.status < 200 || answer.status > 299) {
      throw std::runtime_error(fmt::format("{} answered {}: {}", what, answer.status,
                                           shown(answer.body.substr(0, kComplaintBytesMax))));
    }
    return std::move(answer);
  }

  [[nodiscard]] http::Call request(const Target& target, const guard::RowCall& call,
                                   const std::string& message) const {
    http::Call request;
    request.url = target.url;
    request.body = boost::json::serialize(boost::json::object{
        {"guard", settings_.name}, {"table", settings_.table}, {"id", to_json(call.id)}});
    request.timeout = call.time_left;
    request.answer_bytes_max = kAnswerBytesMax;
    request.headers = {{"Content-Type", "application/json"}};
    for (const auto& [name, value] : target.headers.fields()) request.headers.set(name, value);
    request.headers.add("Recourse-Task", task::to_string(call.task));
    request.headers.add("Recourse-Kind", "guard." + settings_.name);
    request.headers.add("Recourse-Attempt", std::to_string(call.attempt));
    request.headers.add("Idempotency-Key", message);
    if (target.keys.empty()) return request;
    const std::string timestamp = http::webhook_timestamp(clock_.now());
    request.headers.add(std::string(http::kWebhookId), message);
    request.headers.add(std::string(http::kWebhookTimestamp), timestamp);
    request.headers.add(
        std::string(http::kWebhookSignature),
        http::sign_webhook(target.keys,
                           {.id = message, .timestamp = timestamp, .body = request.body}));
    return request;
  }

  void remember(const guard::RowCall& call) {
    const MutexLock lock(mutex_);
    said_so_[call.task] = call.attempt;
    // Left by runs that ended before they could be checked; those are run again.
    if (said_so_.size() > kSaidSoMax) said_so_.erase(said_so_.begin());
  }
  bool was_said(const guard::RowCall& call) {
    const MutexLock lock(mutex_);
    const auto found = said_so_.find(call.task);
    if (found == said_so_.end()) return false;
    const bool is_this_run = found->second == call.attempt;
    said_so_.erase(found);
    return is_this_run;
  }

  const guard::GuardSettings settings_;
  const Target check_;
  const Target handle_;
  guard::GuardedTable& table_;
  http::Client& client_;
  const Clock& clock_;
  std::atomic<std::uint64_t> checks_ = 0;
  Mutex mutex_;
  // By the task, the run that said so.
  std::map<task::TaskId, int> said_so_ GUARDED_BY(mutex_);
};

Result<Target> target_of(std::string_view what, const HttpTarget& configured) {
  auto target = resolve_target(configured);
  if (target) return target;
  return fail(target.error().code, fmt::format("{}.{}", what, target.error().message));
}

// What they throw names itself.
guard::RowWords words_of(const GuardConfig& config) {
  const bool is_checked = !config.check.url.empty();
  return {.check_threw = "",
          .handle_threw = "",
          .not_handled = config.handle.url.empty()
                             ? "it is not well, and there is no handle to call"
                             : R"(handle answered {"success": false})",
          .not_well = is_checked ? "handle answered, but check still says no"
                                 : R"(handle answered without {"success": true}, and the row's )"
                                   "status is not the success value"};
}

}  // namespace

Result<> check_guard_calls(const GuardConfig& config) {
  const auto check = target_of("check", config.check);
  if (!check) return fail(check.error());
  const auto handle = target_of("handle", config.handle);
  return handle ? Result<>() : fail(handle.error());
}

Result<guard::RowHandlers> guard_calls(const GuardConfig& config, guard::GuardedTable& table,
                                       http::Client& client, const Clock& clock) {
  auto check = target_of("check", config.check);
  if (!check) return fail(check.error());
  auto handle = target_of("handle", config.handle);
  if (!handle) return fail(handle.error());
  const auto calls =
      std::make_shared<Calls>(config, *std::move(check), *std::move(handle), table, client, clock);
  return guard::RowHandlers{
      .check_status = [calls](const guard::RowCall& call) { return calls->check(call); },
      .handle_exception = [calls](const guard::RowCall& call) { return calls->handle(call); },
      .words = words_of(config)};
}

}  // namespace recourse::app
