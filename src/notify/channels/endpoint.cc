#include "notify/channels/endpoint.h"

#include <fmt/format.h>

#include <future>
#include <memory>
#include <utility>
#include <variant>

#include "base/field_checks.h"
#include "base/text.h"
#include "http/curl_url.h"
#include "notify/masking.h"

namespace recourse::notify {
namespace {

constexpr std::size_t kAnswerBytesMax = std::size_t{16} * 1024;
constexpr std::size_t kQuotedMax = 200;

ErrorCode code_of(http::CallTrouble trouble) {
  switch (trouble) {
    case http::CallTrouble::kTimedOut:
    case http::CallTrouble::kUnreachable:
    case http::CallTrouble::kBroken:
    case http::CallTrouble::kStopped: return ErrorCode::kUnavailable;
    case http::CallTrouble::kForbidden:
    case http::CallTrouble::kUntrusted: return ErrorCode::kInvalid;
  }
  std::abort();
}

bool may_change(int status) {
  return status == 408 || status == 425 || status == 429 || status >= 500;
}

}  // namespace

Result<> validate(std::string_view subject, const Endpoint& endpoint) {
  using namespace std::chrono_literals;
  const Result<http::Destination> url = http::destination_of(endpoint.url);
  const Result<http::ReachRule> reach = http::ReachRule::make(endpoint.reach);
  return FieldChecks(subject)
      .require(url.has_value(), "url", url ? "" : url.error().message)
      .require(reach.has_value(), "reach.allowed", reach ? "" : reach.error().message)
      .between<Duration>("timeout", endpoint.timeout, 1ms, 5min)
      .result();
}

std::string quoted_answer(std::string_view body) {
  static const Masker masker = Masker::make({}).value();
  return one_line(masker.masked(body.substr(0, 4 * kQuotedMax)), kQuotedMax);
}

Result<http::Answer> post(http::Client& client, const Endpoint& endpoint, http::Call call,
                          const std::stop_token& stop) {
  call.method = http::Method::kPost;
  if (call.url.empty()) call.url = endpoint.url;
  call.timeout = endpoint.timeout;
  call.reach = endpoint.reach;
  call.authorities = endpoint.authorities;
  call.answer_bytes_max = kAnswerBytesMax;
  // Shared: the client's thread may still be inside it when the answer is here.
  const auto promise = std::make_shared<std::promise<http::CallResult>>();
  std::future<http::CallResult> ended = promise->get_future();
  const http::CallId id = client.send(std::move(call), [promise](http::CallResult result) {
    promise->set_value(std::move(result));
  });
  const std::stop_callback cut_off(stop, [&client, id] { client.cancel(id); });
  http::CallResult result = ended.get();
  if (const auto* failed = std::get_if<http::CallFailed>(&result)) {
    return fail(code_of(failed->trouble), failed->message);
  }
  auto& answer = std::get<http::Answer>(result);
  if (answer.status >= 200 && answer.status < 300) return std::move(answer);
  const std::string said = quoted_answer(answer.body);
  return fail(may_change(answer.status) ? ErrorCode::kUnavailable : ErrorCode::kInvalid,
              said.empty() ? fmt::format("it answered {}", answer.status)
                           : fmt::format("it answered {}: {}", answer.status, said));
}

}  // namespace recourse::notify
