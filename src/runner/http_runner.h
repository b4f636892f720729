// Kinds whose handler is a URL: an attempt is a POST of the payload, and the answer is its end.
//
// An attempt holds no thread while it waits. Where it is stopped (its time is up, a person cancels
// it, the node ends) the call is cut off.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/time.h"
#include "engine/attempt_run.h"
#include "engine/core/settings.h"
#include "http/client.h"
#include "http/webhook_signature.h"

namespace recourse::runner {

// "Is it already done?", asked before a task runs again that may have happened: after a time-out,
// or after its owner was lost. 200: done. 404, 409, 410: not done, and the attempt goes on in what
// is left of its time. Any other answer, or none: the attempt ends, is retried, and asks again
// first, because running it blindly is what a probe is there to prevent.
struct HttpProbe {
  // `{task}` in it stands for the task's id. The headers are those of an attempt, signed too.
  std::string url;
  // kGet without a body, or kPost with the payload, for who finds the work by what is in it.
  http::Method method = http::Method::kGet;
  // Or what is left of the attempt's time, where that is less.
  Duration timeout = std::chrono::seconds(5);
};

struct HttpRunnerSettings {
  std::string url;
  // Sent with every attempt, such as Authorization; they win over the task's own.
  http::Headers headers = {};
  http::Reach reach = {};
  // PEM of authorities to trust instead of the system's.
  std::string authorities = {};
  // Each signs; none: unsigned.
  std::vector<http::WebhookKey> keys = {};
  // Of the answer only its beginning is wanted, for a person.
  std::size_t answer_bytes_max = std::size_t{16} * 1024;
  std::optional<HttpProbe> probe = std::nullopt;
  // Of what the service goes on with after a 202, until it reports or renews.
  engine::LeaseTimes lease = {};
};

Result<> validate(const HttpRunnerSettings& settings);

struct HttpBinding {
  // For a kind whose settings say asynchronous.
  engine::Handler handler;
  // Set where there is a probe: it makes the engine say when one is due. It answers "not done" at
  // once and leaves the question to the handler, which asks without holding a thread.
  engine::Probe probe;
};

// The client and the clock must outlive every attempt.
Result<HttpBinding> bind_http(HttpRunnerSettings settings, http::Client& client,
                              const Clock& clock);

}  // namespace recourse::runner
