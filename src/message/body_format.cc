#include "message/body_format.h"

#include <boost/json.hpp>
#include <memory>
#include <utility>

#include "engine/core/event.h"

namespace recourse::message {
namespace {

bool is_json(std::string_view body) {
  boost::system::error_code error;
  boost::json::monotonic_resource memory;
  (void)boost::json::parse(body, error, &memory);
  return !error;
}

}  // namespace

std::optional<std::string> misfit(std::string_view body, BodyFormat format) {
  if (format == BodyFormat::kAny || is_json(body)) return std::nullopt;
  return "the body is not JSON: correct the publisher, or edit the body (recourse task edit) and "
         "retry";
}

policy::Decision unreadable(std::string why) {
  return policy::dead_letter(policy::Category::kBiz4xx, std::string(kUndecodable), std::move(why));
}

engine::Handler check_body(engine::Handler handler, BodyFormat format) {
  return [handler = std::move(handler), format](const std::shared_ptr<engine::AttemptRun>& run) {
    std::optional<std::string> wrong = misfit(run->task().spec.payload, format);
    if (wrong) {
      run->complete(engine::Decided{unreadable(*std::move(wrong))});
    } else {
      handler(run);
    }
  };
}

}  // namespace recourse::message
