// What went wrong in a handler, from what it threw to what is kept of it.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>

#include "message/body_format.h"
#include "message/records.h"
#include "policy/failure.h"
#include "policy/failure_router.h"
#include "recourse/message_failure.h"

namespace recourse::message {

struct FailedRun {
  policy::Failure failure;
  // For the history.
  AttemptDetail detail = {};
  // Empty where neither the failure nor the handler said it.
  std::string business_id = {};
};

// `about` is what the handler had said before.
FailedRun failed_run(const std::exception_ptr& thrown, std::string about);

// As a program's own rules see it.
MessageError error_of(const policy::Failure& failure);

// MSG-4: what a program's own rules say comes first, then the failure's own word, then the
// product's rules for messages. `classify` may be empty.
policy::FailureRouter router_of(
    std::function<std::optional<MessageDecision>(const MessageError&)> classify);

}  // namespace recourse::message
