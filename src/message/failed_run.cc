#include "message/failed_run.h"

#include <utility>

#include "base/text.h"
#include "message/own_address.h"
#include "task/record.h"

namespace recourse::message {
namespace {

// What a handler said of its failure; empty where it threw something else.
FailureDetail detail_of(const std::exception_ptr& thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const MessageFailure& failure) {
    return failure.detail();
  } catch (...) {
    return {};
  }
  return {};
}

FailureDetail detail_of(const policy::Failure& failure) {
  const auto* const thrown = std::get_if<policy::Thrown>(&failure);
  return thrown == nullptr ? FailureDetail() : detail_of(thrown->error);
}

std::string code_or(std::string code, std::string_view otherwise) {
  return code.empty() ? std::string(otherwise) : std::move(code);
}

// A body that its codec refused, whatever a program's rules say.
std::optional<policy::Decision> decide_undecodable(const policy::Failure& failure) {
  if (detail_of(failure).code != kUndecodable) return std::nullopt;
  return unreadable("");
}

// Its own word, where it gives one. Otherwise it is judged as any other, but keeps its code, which
// says more than the rule that its text matched.
std::optional<policy::Decision> decide_own(const policy::FailureRouter& others,
                                           const policy::Failure& failure) {
  FailureDetail detail = detail_of(failure);
  if (detail.retryable) {
    std::string code = code_or(std::move(detail.code), "MESSAGE_FAILURE");
    return *detail.retryable ? policy::retry(policy::Category::kBizRetryable, std::move(code), "")
                             : policy::dead_letter(policy::Category::kBiz4xx, std::move(code), "");
  }
  if (detail.code.empty() && detail.sql_state.empty()) return std::nullopt;
  const std::string message = policy::describe(failure).message;
  policy::Decision decision =
      detail.sql_state.empty()
          ? others.decide(failure)
          : others.decide(policy::SqlFailure{.state = detail.sql_state, .message = message});
  decision.code = code_or(std::move(detail.code), decision.code);
  decision.message = message;
  return decision;
}

policy::FailureCase decided_by(
    std::function<std::optional<MessageDecision>(const MessageError&)> classify) {
  return [classify = std::move(classify)](
             const policy::Failure& failure) -> std::optional<policy::Decision> {
    const MessageError error = error_of(failure);
    const std::optional<MessageDecision> decided = classify(error);
    if (!decided) return std::nullopt;
    const std::string code = code_or(decided->code, code_or(error.code, "CLASSIFIED"));
    if (!decided->retry) return policy::dead_letter(policy::Category::kUnknown, code, "");
    policy::Decision again = policy::retry(policy::Category::kBizRetryable, code, "");
    again.retry_after = decided->after;
    return again;
  };
}

}  // namespace

FailedRun failed_run(const std::exception_ptr& thrown, std::string about) {
  FailureDetail given = detail_of(thrown);
  FailedRun failed{.failure = policy::Thrown{thrown}};
  failed.detail.exception_type =
      given.type.empty() ? policy::describe(failed.failure).type : std::move(given.type);
  failed.detail.consumer_ip = own_address();
  failed.detail.stack_trace = std::move(given.stack_trace);
  failed.detail.custom_data = std::move(given.custom_data);
  failed.business_id = given.business_id.empty() ? std::move(about) : std::move(given.business_id);
  // What is too long for a key must not keep a failure from being recorded.
  failed.business_id = one_line(failed.business_id, task::kKeyBytesMax / 4);
  return failed;
}

MessageError error_of(const policy::Failure& failure) {
  const policy::FailureText text = policy::describe(failure);
  FailureDetail detail = detail_of(failure);
  MessageError error{.exception_type = text.type,
                     .code = std::move(detail.code),
                     .message = text.message,
                     .sql_state = std::move(detail.sql_state),
                     .thrown = nullptr};
  if (const auto* const thrown = std::get_if<policy::Thrown>(&failure)) {
    error.thrown = thrown->error;
  } else if (std::holds_alternative<policy::TimedOut>(failure)) {
    error.exception_type = policy::kTimedOut;
  }
  return error;
}

policy::FailureRouter router_of(
    std::function<std::optional<MessageDecision>(const MessageError&)> classify) {
  policy::FailureRouter router = policy::message_router();
  router.add_first([others = policy::message_router()](const policy::Failure& failure) {
    return decide_own(others, failure);
  });
  if (classify) router.add_first(decided_by(std::move(classify)));
  router.add_first(decide_undecodable);
  return router;
}

}  // namespace recourse::message
