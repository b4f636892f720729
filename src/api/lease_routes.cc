// Work for programs outside: lease, renew, report.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "api/body.h"
#include "api/feed.h"
#include "api/figures.h"
#include "api/lease_line.h"
#include "api/route.h"
#include "api/shapes.h"
#include "base/text.h"
#include "store/limits.h"
#include "task/ticket_text.h"

namespace recourse::api {
namespace {

using boost::json::array;
using boost::json::object;

constexpr Duration kWaitMax = std::chrono::seconds(50);
constexpr std::size_t kKindsMax = 100;
constexpr std::size_t kWorkerBytesMax = 200;

object leased_json(const task::Task& task) {
  object shape = to_json(task, Payload::kShown);
  shape["ticket"] = task::to_string(task::NamedTicket{task.id, task.ticket});
  shape["attempt"] = task.attempts + 1;
  return shape;
}

http::Response leased_response(const Result<std::vector<task::Task>>& tasks) {
  if (!tasks) return refuse(tasks.error());
  array items;
  for (const task::Task& task : *tasks) items.push_back(leased_json(task));
  return json_response(object{{"items", std::move(items)}});
}

struct LeaseAsked {
  engine::LeaseWish wish;
  Duration wait{};
};

// Each once, in their order: it is the order in which they are asked for work.
void read_kinds(Fields& fields, std::vector<task::Kind>& kinds) {
  const auto names = fields.texts("kinds", kKindsMax);
  for (const std::string& name : names.value_or(std::vector<std::string>())) {
    if (name.empty() || name.size() > task::kKindBytesMax || !is_plain_text(name)) {
      fields.refuse("kinds", fmt::format("{} cannot be a kind's name", shown(name)));
    }
    if (std::ranges::find(kinds, task::Kind(name)) == kinds.end()) kinds.emplace_back(name);
  }
  if (kinds.empty()) fields.refuse("kinds", "must name at least one kind");
}

// Empty: what is usual for the kind.
std::optional<Duration> read_lease_time(Fields& fields) {
  const std::optional<Duration> lease = fields.duration("lease", store::kLeaseMax);
  if (lease && *lease < store::kLeaseMin) fields.refuse("lease", "must be longer than nothing");
  return lease;
}

LeaseAsked read_lease(const object& body, std::vector<FieldError>& errors) {
  LeaseAsked asked;
  Fields fields(body, "", errors);
  asked.wish.worker = task::WorkerName(fields.required_text("worker"));
  const std::string& worker = asked.wish.worker.value;
  if (worker.size() > kWorkerBytesMax || !is_plain_text(worker)) {
    fields.refuse("worker", fmt::format("must have 1 to {} bytes of plain text", kWorkerBytesMax));
  }
  read_kinds(fields, asked.wish.kinds);
  asked.wish.limit = static_cast<int>(fields.integer("limit", 1, store::kBatchRowsMax).value_or(1));
  asked.wish.lease_for = read_lease_time(fields);
  asked.wait = fields.duration("wait", kWaitMax).value_or(Duration::zero());
  fields.refuse_others();
  return asked;
}

void lease(Desk& desk, const Call& call, http::Responder responder) {
  const auto body = read_body(call.request);
  if (!body) return std::move(responder).send(refuse(400, body.error().message));
  if (call.caller.tenant) {
    return std::move(responder).send(
        refuse(403, "leasing takes tasks of all tenants; it needs a token of all tenants"));
  }
  std::vector<FieldError> errors;
  LeaseAsked asked = read_lease(*body, errors);
  if (!errors.empty()) return std::move(responder).send(refuse(std::move(errors)));
  asked.wish.lease = task::LeaseId(desk.ids.next());
  const auto reply = std::make_shared<http::Responder>(std::move(responder));
  const bool waits = desk.lease_line.wait(
      std::move(asked.wish), asked.wait,
      [reply](const Result<std::vector<task::Task>>& tasks) {
        std::move(*reply).send(leased_response(tasks));
      },
      [reply] { return reply->is_abandoned(); });
  if (!waits) {
    std::move(*reply).send(
        refuse(503, "too many workers wait here, or the server is about to stop; come back later"));
  }
}

std::optional<store::Held> read_ticket(Fields& fields, std::string_view name,
                                       const std::string& text) {
  const auto ticket = task::parse_ticket("it", text);
  if (ticket) return store::Held{.task = ticket->task, .ticket = ticket->ticket};
  fields.refuse(name, "must be the ticket that came with the task: tsk_...~FENCE~LEASE");
  return std::nullopt;
}

// A caller of one tenant does nothing to tasks of others, not even with their ticket.
Result<std::vector<store::Held>> of_caller(Desk& desk, const Call& call,
                                           const std::vector<store::Held>& held) {
  if (!call.caller.tenant) return held;
  std::vector<store::Held> own;
  for (const store::Held& one : held) {
    const auto task = desk.opened.reader().find(one.task, kPatience);
    if (!task && task.error().code != ErrorCode::kNotFound) return fail(task.error());
    if (task && call.caller.may_see(task->spec.tenant)) own.push_back(one);
  }
  return own;
}

array renewed_json(const std::vector<std::string>& texts, const std::vector<store::Held>& asked,
                   const std::vector<store::Held>& renewed,
                   const std::vector<std::optional<engine::Renewed>>& answers) {
  array items;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto at = std::ranges::find(renewed, asked[i].task, &store::Held::task);
    std::optional<engine::Renewed> answer;
    if (at != renewed.end()) answer = answers[static_cast<std::size_t>(at - renewed.begin())];
    object item{{"ticket", texts[i]}, {"lease_end", nullptr}};
    if (answer) item["lease_end"] = to_json(answer->lease_end);
    if (answer && answer->requested) item["requested"] = task::to_string(*answer->requested);
    items.push_back(std::move(item));
  }
  return items;
}

http::Response renew(Desk& desk, const Call& call) {
  const auto body = read_body(call.request);
  if (!body) return refuse(400, body.error().message);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  const auto texts =
      fields.texts("tickets", store::kBatchRowsMax).value_or(std::vector<std::string>());
  const std::optional<Duration> lease_for = read_lease_time(fields);
  std::vector<store::Held> held;
  for (const std::string& text : texts) {
    if (const auto ticket = read_ticket(fields, "tickets", text)) held.push_back(*ticket);
  }
  fields.refuse_others();
  if (texts.empty() && errors.empty()) errors.push_back({"/tickets", "must name at least one"});
  if (!errors.empty()) return refuse(std::move(errors));
  const auto own = of_caller(desk, call, held);
  if (!own) return refuse(own.error());
  Result<std::vector<std::optional<engine::Renewed>>> answers;
  if (!own->empty()) answers = desk.leases.renew(*own, lease_for, desk.node.store_now(), kPatience);
  if (!answers) return refuse(answers.error());
  return json_response(object{{"items", renewed_json(texts, held, *own, *answers)}});
}

http::Response reported(Desk& desk, const Call& call, const engine::Report& report) {
  // Workers report on tasks they may see.
  const auto task = desk.opened.reader().find(report.held.task, kPatience);
  if (!task) return refuse(task.error());
  if (!call.caller.may_see(task->spec.tenant)) {
    return refuse(404, task::to_string(report.held.task) + " does not exist");
  }
  const auto answer = desk.leases.report(report, desk.node.store_now(), kPatience);
  if (!answer) return refuse(answer.error());
  if (answer->verdict == task::WriteVerdict::kRefused) {
    return refuse(409,
                  "this ticket is not valid any more: the lease ended or somebody else has the "
                  "task; drop the result");
  }
  if (answer->moved) desk.happened(*answer->moved);
  desk.lease_line.nudge();
  desk.node.hint_work();
  return json_response(
      object{{"id", task::to_string(task->id)},
             {"state", answer->state ? to_string(*answer->state) : std::string_view("unknown")}});
}

http::Response complete(Desk& desk, const Call& call) {
  const auto body = read_body(call.request);
  if (!body) return refuse(400, body.error().message);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  const auto held = read_ticket(fields, "ticket", fields.required_text("ticket"));
  const auto took = fields.duration("took", kLongestWait);
  fields.refuse_others();
  if (!errors.empty()) return refuse(std::move(errors));
  return reported(desk, call, {*held, engine::Succeeded{}, took.value_or(Duration::zero())});
}

// What a worker says became of it.
std::optional<policy::Decision> decision_of(std::string_view outcome) {
  using policy::Category;
  if (outcome == "retry") return policy::retry(Category::kBizRetryable, "DECLINED", "");
  if (outcome == "dead") return policy::dead_letter(Category::kUnknown, "DEAD_LETTER", "");
  policy::Decision decision{.category = Category::kUnknown};
  if (outcome == "snooze") {
    decision.outcome = policy::Outcome::kRetry;
    decision.uses_retry = false;
    decision.code = "SNOOZED";
  } else if (outcome == "failed") {
    decision.outcome = policy::Outcome::kFailed;
    decision.code = "FAILED";
  } else if (outcome == "cancelled") {
    decision.outcome = policy::Outcome::kCancelled;
    decision.code = "CANCELLED";
  } else {
    return std::nullopt;
  }
  return decision;
}

http::Response fail_task(Desk& desk, const Call& call) {
  const auto body = read_body(call.request);
  if (!body) return refuse(400, body.error().message);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  const auto held = read_ticket(fields, "ticket", fields.required_text("ticket"));
  const std::string outcome = fields.text("outcome").value_or("retry");
  std::optional<policy::Decision> decision = decision_of(outcome);
  if (!decision) fields.refuse("outcome", "must be retry, snooze, dead, failed or cancelled");
  const auto wait = fields.duration("retry_after", kLongestWait);
  if (outcome == "snooze" && !wait) fields.refuse("retry_after", "is missing: how long?");
  const std::string code = fields.text("code").value_or("");
  const std::string reason = fields.text("reason").value_or("the worker gave no reason");
  const auto took = fields.duration("took", kLongestWait);
  fields.refuse_others();
  if (!errors.empty()) return refuse(std::move(errors));
  if (!code.empty()) decision->code = clean_text(code, 64);
  decision->message = clean_text(reason, kErrorCharactersMax);
  if (outcome == "snooze") decision->snooze = wait;
  if (outcome == "retry") decision->retry_after = wait;
  return reported(desk, call,
                  {*held, engine::Decided{*std::move(decision)}, took.value_or(Duration::zero())});
}

}  // namespace

std::vector<Route> lease_routes() {
  using enum http::Method;
  return {
      {kPost, "/api/v1/leases", Role::kOperator, AnswerLater(lease)},
      {kPost, "/api/v1/leases/renew", Role::kOperator, Answer(renew)},
      {kPost, "/api/v1/leases/complete", Role::kOperator, Answer(complete)},
      {kPost, "/api/v1/leases/fail", Role::kOperator, Answer(fail_task)},
  };
}

}  // namespace recourse::api
