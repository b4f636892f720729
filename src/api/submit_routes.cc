// Submitting. A submit waits for no thread: it goes to the node, and is answered when it is
// durable.
#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <utility>

#include "api/body.h"
#include "api/figures.h"
#include "api/json_slices.h"
#include "api/lease_line.h"
#include "api/replay.h"
#include "api/route.h"
#include "api/safety.h"
#include "api/submission.h"
#include "base/text.h"
#include "store/create_rules.h"

namespace recourse::api {
namespace {

using boost::json::array;
using boost::json::object;

// Those of its kind, where the submit says nothing else.
std::function<void(task::TaskSpec&)> defaults_of(const Desk& desk) {
  return [&desk](task::TaskSpec& spec) {
    const std::string name = desk.node.kinds().name_for(spec.kind);
    for (const KindCard& card : desk.kinds) {
      if (card.name != name) continue;
      spec.timeout = card.timeout;
      spec.max_retries = card.max_retries;
    }
  };
}

// One that is no good is nobody's fault here, and left out.
std::string trace_parent_of(const Call& call) {
  const auto header = call.request.headers.find("traceparent");
  task::TaskSpec traced;
  traced.kind = task::Kind("any");
  traced.trace_parent = header.value_or("");
  return task::validate(traced) ? traced.trace_parent : std::string();
}

SubmitRules rules_of(const Desk& desk, const Call& call) {
  return {.caller = call.caller,
          .backoffs = desk.backoffs,
          .defaults = defaults_of(desk),
          // A request that may be a repetition is answered as the first time.
          .now = call.request.headers.find("Idempotency-Key")
                     ? std::nullopt
                     : std::optional(desk.node.store_now()),
          .payload_bytes_max = desk.limits.payload_bytes,
          .clock = desk.clock.now(),
          .trace_parent = trace_parent_of(call)};
}

// It may be another server's; a slip of the pen is told at once all the same.
void warn_of_kind(const Desk& desk, const std::string& kind, object& shape) {
  if (desk.node.kinds().find(task::Kind(kind)) != nullptr) return;
  shape["warning"] =
      fmt::format("this server has no kind {}; the task waits until some server has", shown(kind));
}

object answer_json(const Desk& desk, const std::string& kind, const engine::SubmitAnswer& answer) {
  object shape{{"id", task::to_string(answer.task)}, {"created", false}};
  switch (*answer.result) {
    case store::Insertion::kInserted: shape["created"] = true; break;
    case store::Insertion::kKeyTaken: shape["reason"] = "unique_key"; break;
    default: shape["reason"] = "repeated"; break;
  }
  warn_of_kind(desk, kind, shape);
  return shape;
}

http::Response to_response(const Desk& desk, const std::string& kind,
                           const engine::SubmitAnswer& answer) {
  if (!answer.result) {
    Problem problem = problem_of(answer.result.error());
    if (answer.result.error().code == ErrorCode::kInDoubt) {
      problem.detail += fmt::format("; submit it again with \"id\": \"{}\" to be sure",
                                    task::to_string(answer.task));
    }
    return to_response(problem);
  }
  const object body = answer_json(desk, kind, answer);
  http::Response response = json_response(body, body.at("created").as_bool() ? 201 : 200);
  response.headers.set("Location", "/api/v1/tasks/" + task::to_string(answer.task));
  return response;
}

// Counts it, and wakes the workers who wait for such.
void note_submit(Desk& desk, const std::string& kind, const engine::SubmitAnswer& answer) {
  desk.figures.submitted(kind, answer.result.has_value());
  if (answer.result && *answer.result == store::Insertion::kInserted) desk.lease_line.nudge();
}

// One caller's answer. It deletes itself when it has given it.
class OneWaiter final : public engine::SubmitWaiter {
 public:
  OneWaiter(Desk& desk, http::Responder responder, std::string_view kind)
      : desk_(desk), responder_(std::move(responder)), kind_(kind) {}

  void answered(const engine::SubmitAnswer& answer) override {
    note_submit(desk_, kind_, answer);
    std::move(responder_).send(to_response(desk_, kind_, answer));
    delete this;
  }

 private:
  Desk& desk_;
  http::Responder responder_;
  std::string kind_;
};

// Many in one request: the last answer sends them all.
class BatchAnswer {
 public:
  BatchAnswer(http::Responder responder, std::size_t size)
      : responder_(std::move(responder)), items_(size), missing_(size) {}

  // Each place once, from any thread.
  void set(std::size_t place, object item) {
    items_[place] = std::move(item);
    if (missing_.fetch_sub(1) == 1) send();
  }

 private:
  void send() {
    array items;
    std::size_t refused = 0;
    for (object& item : items_) {
      refused += item.contains("error") ? 1 : 0;
      items.push_back(std::move(item));
    }
    // As many as were refused is for the caller to see at once.
    std::move(responder_)
        .send(json_response(object{{"items", std::move(items)}, {"refused", refused}}));
  }

  http::Responder responder_;
  std::vector<object> items_;
  std::atomic<std::size_t> missing_;
};

object error_item(const engine::SubmitAnswer& answer) {
  const Error& error = answer.result.error();
  return {{"id", task::to_string(answer.task)},
          {"error", {{"code", to_string(error.code)}, {"detail", error.message}}}};
}

class BatchWaiter final : public engine::SubmitWaiter {
 public:
  BatchWaiter(Desk& desk, std::shared_ptr<BatchAnswer> batch, std::size_t place,
              std::string_view kind)
      : desk_(desk), batch_(std::move(batch)), place_(place), kind_(kind) {}

  void answered(const engine::SubmitAnswer& answer) override {
    note_submit(desk_, kind_, answer);
    batch_->set(place_, answer.result ? answer_json(desk_, kind_, answer) : error_item(answer));
    delete this;
  }

 private:
  Desk& desk_;
  std::shared_ptr<BatchAnswer> batch_;
  std::size_t place_;
  std::string kind_;
};

void give_id(Desk& desk, Submit& submit) {
  if (submit.submission.id == task::TaskId{}) submit.submission.id = task::TaskId(desk.ids.next());
}

http::Response replay_answer(const Desk& desk, const std::string& kind, const std::string& value) {
  const auto replayed = read_replayed(value);
  if (!replayed) return refuse(replayed.error());
  http::Response response =
      to_response(desk, kind,
                  {{},
                   replayed->task,
                   replayed->is_taken ? store::Insertion::kKeyTaken : store::Insertion::kInserted});
  response.headers.set("Idempotent-Replayed", "true");
  return response;
}

// Of a key that this request has, or has in the place of one that was never answered: that one may
// have submitted the task already.
http::Response submit_held(Desk& desk, const store::Creation& creation, Submit submit) {
  submit.submission.id = task::TaskId(creation.id);
  if (!store::is_first_holder(creation)) submit.novelty = store::Novelty::kRepeat;
  const std::string kind = submit.submission.spec.kind.value;
  engine::SubmitAnswer answer = desk.node.submit(std::move(submit.submission), submit.novelty);
  const store::CreateHold hold = store::hold_of(creation);
  note_submit(desk, kind, answer);
  if (!answer.result) {
    // Whoever repeats it need not wait for the lock to end.
    (void)desk.opened.creates().give_up(hold, answer.result.error().message, kPatience);
    return to_response(desk, kind, answer);
  }
  if (*answer.result == store::Insertion::kRepeated) answer.result = store::Insertion::kInserted;
  const bool is_taken = *answer.result == store::Insertion::kKeyTaken;
  const auto kept = desk.opened.creates().succeed(
      hold, to_value({.task = answer.task, .is_taken = is_taken}), kPatience);
  if (!kept) return refuse(kept.error());
  return to_response(desk, kind, answer);
}

// Under an Idempotency-Key: the task's id is fixed with the key before the task exists, so that
// whoever repeats the request, after whatever crash, submits the same task.
http::Response submit_once(Desk& desk, const Call& call, const Submit& submit) {
  const auto ask = read_replay_key(call, submit.submission.id);
  if (!ask) return refuse(ask.error());
  const auto acquired = desk.opened.creates().acquire(*ask, kPatience);
  if (!acquired && acquired.error().code == ErrorCode::kConflict) {
    return refuse(422, acquired.error().message);
  }
  if (!acquired) return refuse(acquired.error());
  switch (acquired->how) {
    case store::Acquisition::kAcquired: return submit_held(desk, acquired->creation, submit);
    case store::Acquisition::kReplayed:
      return replay_answer(desk, submit.submission.spec.kind.value, acquired->creation.value);
    case store::Acquisition::kInProgress: break;
  }
  return to_response(Problem{.status = 409,
                             .detail = "the same request is being answered: ask again in a moment",
                             .retry_after = std::chrono::seconds(1)});
}

void submit_one(Desk& desk, Call call, http::Responder responder) {
  const auto body = read_body(call.request);
  if (!body) return std::move(responder).send(refuse(400, body.error().message));
  std::vector<FieldError> errors;
  const SubmitRules rules = rules_of(desk, call);
  Submit submit = read_submit(*body, call.request.body, "", rules, errors);
  if (!errors.empty()) return std::move(responder).send(refuse(std::move(errors)));
  give_id(desk, submit);
  const std::string kind = submit.submission.spec.kind.value;
  if (call.request.headers.find("Idempotency-Key")) {
    if (desk.pool.use().queued >= kWaitingMax) {
      return std::move(responder).send(refuse(503, "too many requests wait here already"));
    }
    return desk.pool.run([&desk, call = std::move(call), submit = std::move(submit),
                          reply = std::make_shared<http::Responder>(std::move(responder))] {
      std::move(*reply).send(
          answer_calmly(desk.log, [&] { return submit_once(desk, call, submit); }));
    });
  }
  auto waiter = std::make_unique<OneWaiter>(desk, std::move(responder), kind);
  desk.node.submit(std::move(submit.submission), submit.novelty, *waiter.release());
}

void submit_many(Desk& desk, const Call& call, http::Responder responder) {
  const auto body = read_body(call.request);
  if (!body) return std::move(responder).send(refuse(400, body.error().message));
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  const array* tasks = fields.array("tasks", desk.limits.batch);
  fields.refuse_others();
  if (tasks == nullptr && errors.empty()) errors.push_back({"/tasks", "is missing"});
  if (call.request.headers.find("Idempotency-Key")) {
    errors.push_back(
        {"", "a batch takes no Idempotency-Key: give each task an id or a unique_key"});
  }
  std::vector<Submit> submits;
  if (errors.empty()) {
    const SubmitRules rules = rules_of(desk, call);
    const auto raw = elements_of(member_of(call.request.body, "tasks").value_or("[]"));
    for (std::size_t i = 0; i < tasks->size(); ++i) {
      const std::string pointer = fmt::format("/tasks/{}", i);
      if (const object* item = (*tasks)[i].if_object()) {
        submits.push_back(read_submit(*item, raw[i], pointer, rules, errors));
      } else {
        errors.push_back({pointer, "must be an object"});
      }
    }
  }
  if (!errors.empty()) return std::move(responder).send(refuse(std::move(errors)));
  if (submits.empty()) {
    return std::move(responder).send(json_response(object{{"items", array()}, {"refused", 0}}));
  }
  const auto batch = std::make_shared<BatchAnswer>(std::move(responder), submits.size());
  for (std::size_t i = 0; i < submits.size(); ++i) {
    give_id(desk, submits[i]);
    auto waiter =
        std::make_unique<BatchWaiter>(desk, batch, i, submits[i].submission.spec.kind.value);
    desk.node.submit(std::move(submits[i].submission), submits[i].novelty, *waiter.release());
  }
}

}  // namespace

std::vector<Route> submit_routes() {
  return {
      {http::Method::kPost, "/api/v1/tasks", Role::kOperator, AnswerLater(submit_one)},
      {http::Method::kPost, "/api/v1/tasks/batch", Role::kOperator, AnswerLater(submit_many)},
  };
}

}  // namespace recourse::api
