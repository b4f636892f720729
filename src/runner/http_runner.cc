#include "runner/http_runner.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <stop_token>
#include <utility>
#include <variant>

#include "base/field_checks.h"
#include "http/curl_url.h"
#include "runner/answer_rules.h"
#include "runner/outgoing.h"

namespace recourse::runner {
namespace {

// Of a 202 that asks for less: nobody could report so soon.
constexpr Duration kLeaseMin = std::chrono::seconds(1);
constexpr std::size_t kCalleeBytesMax = 200;

struct Binding {
  HttpRunnerSettings settings;
  // Who goes on with what was answered 202; nothing of the URL that may be a secret.
  task::WorkerName callee;
  http::Client& client;
  const Clock& clock;
};

std::string with_task(std::string url, const std::string& task) {
  constexpr std::string_view kPlace = "{task}";
  for (std::size_t at = url.find(kPlace); at != std::string::npos;
       at = url.find(kPlace, at + task.size())) {
    url.replace(at, kPlace.size(), task);
  }
  return url;
}

// One attempt from its start to its answer: the probe where one is due, then the call. Kept alive
// by the call that is out.
class HttpAttempt : public std::enable_shared_from_this<HttpAttempt> {
 public:
  HttpAttempt(std::shared_ptr<const Binding> binding, std::shared_ptr<engine::AttemptRun> run)
      : binding_(std::move(binding)),
        run_(std::move(run)),
        on_stop_(run_->stop_token(), CutOff{this}) {}

  void begin() {
    if (binding_->settings.probe && run_->start().probe_first) {
      ask_probe();
    } else {
      call();
    }
  }

 private:
  struct CutOff {
    HttpAttempt* attempt;
    void operator()() const { attempt->cut_off(); }
  };
  using Ended = void (HttpAttempt::*)(const http::CallResult&);

  void ask_probe();
  void probe_answered(const http::CallResult& result);
  void call();
  void answered(const http::CallResult& result);
  [[nodiscard]] http::Call request_with(std::string body) const;
  void send(http::Call request, Ended ended);
  void remember(http::CallId call);
  void cut_off() { binding_->client.cancel(call_.load()); }
  [[nodiscard]] bool is_stopped() const { return run_->stop_token().stop_requested(); }

  const std::shared_ptr<const Binding> binding_;
  const std::shared_ptr<engine::AttemptRun> run_;
  // The one that is out; no call has the number 0.
  std::atomic<http::CallId> call_ = 0;
  // Last: it goes first, and uses what is above.
  std::stop_callback<CutOff> on_stop_;
};

http::Call HttpAttempt::request_with(std::string body) const {
  const HttpRunnerSettings& settings = binding_->settings;
  http::Call request;
  request.url = settings.url;
  request.headers = outgoing_headers(*run_, {.fixed = settings.headers, .keys = settings.keys},
                                     body, binding_->clock.now());
  request.body = std::move(body);
  request.timeout = run_->time_left();
  request.answer_bytes_max = settings.answer_bytes_max;
  request.reach = settings.reach;
  request.authorities = settings.authorities;
  return request;
}

void HttpAttempt::ask_probe() {
  const HttpProbe& probe = *binding_->settings.probe;
  const bool with_payload = probe.method != http::Method::kGet;
  http::Call request = request_with(with_payload ? run_->task().spec.payload : std::string());
  request.method = probe.method;
  request.url = with_task(probe.url, task::to_string(run_->task().id));
  request.timeout = std::min(request.timeout, probe.timeout);
  send(std::move(request), &HttpAttempt::probe_answered);
}

void HttpAttempt::probe_answered(const http::CallResult& result) {
  const ProbeAnswer answer = judge_probe(result, binding_->clock.now());
  if (std::holds_alternative<IsDone>(answer)) {
    run_->complete(engine::Succeeded{});
  } else if (const auto* unknown = std::get_if<IsUnknown>(&answer)) {
    run_->complete(engine::Decided{unknown->decision});
  } else if (is_stopped()) {
    run_->complete(engine::Decided{stopped_before_its_end()});
  } else {
    call();
  }
}

void HttpAttempt::call() { send(request_with(run_->task().spec.payload), &HttpAttempt::answered); }

void HttpAttempt::answered(const http::CallResult& result) {
  Judgement judgement = judge_answer(result, run_->task().spec.timeout, binding_->clock.now());
  if (auto* end = std::get_if<engine::AttemptResult>(&judgement)) {
    run_->complete(std::move(*end));
    return;
  }
  const engine::LeaseTimes& lease = binding_->settings.lease;
  const Duration asked = std::get<AnswersLater>(judgement).lease.value_or(lease.usual);
  run_->complete(engine::HandedOver{
      .to = binding_->callee, .lease_for = std::max(kLeaseMin, std::min(asked, lease.longest))});
}

// Whoever asks for the stop sees the call's number, or is seen here.
void HttpAttempt::send(http::Call request, Ended ended) {
  const auto hear = [self = shared_from_this(), ended](const http::CallResult& result) {
    // The client's thread is everybody's: nothing is thrown into it.
    try {
      ((*self).*ended)(result);
    } catch (...) {
      self->run_->complete(engine::Failed{policy::Thrown{std::current_exception()}});
    }
  };
  remember(binding_->client.send(std::move(request), hear));
  if (is_stopped()) cut_off();
}

// The next call may be out, sent by the client's thread, before the number of the one before is
// known here. Numbers grow.
void HttpAttempt::remember(http::CallId call) {
  http::CallId newest = call_.load();
  while (newest < call && !call_.compare_exchange_weak(newest, call)) {
  }
}

}  // namespace

Result<> validate(const HttpRunnerSettings& settings) {
  using namespace std::chrono_literals;
  const Result<http::Destination> url = http::destination_of(settings.url);
  const Result<http::ReachRule> reach = http::ReachRule::make(settings.reach);
  FieldChecks checks("http");
  checks.require(url.has_value(), "url", url ? "" : url.error().message)
      .require(reach.has_value(), "reach.allowed", reach ? "" : reach.error().message)
      .between("answer_bytes_max", settings.answer_bytes_max, std::size_t{0},
               std::size_t{1024} * 1024);
  for (const auto& [name, value] : settings.headers.fields()) {
    checks.require(!is_reserved(name), "headers",
                   "must leave out " + name + ", which the engine or the transport writes");
  }
  if (settings.probe) {
    const Result<http::Destination> probe =
        http::destination_of(with_task(settings.probe->url, "tsk"));
    const bool is_known = settings.probe->method == http::Method::kGet ||
                          settings.probe->method == http::Method::kPost;
    checks.require(probe.has_value(), "probe.url", probe ? "" : probe.error().message)
        .require(is_known, "probe.method", "must be GET or POST")
        .between<Duration>("probe.timeout", settings.probe->timeout, 1ms, 1h);
  }
  return checks.result();
}

Result<HttpBinding> bind_http(HttpRunnerSettings settings, http::Client& client,
                              const Clock& clock) {
  if (const Result<> valid = validate(settings); !valid) return fail(valid.error());
  const bool has_probe = settings.probe.has_value();
  const auto destination = http::destination_of(settings.url);
  if (!destination) return fail(destination.error());
  const auto binding = std::make_shared<const Binding>(
      Binding{.settings = std::move(settings),
              .callee = task::WorkerName(destination->origin.substr(0, kCalleeBytesMax)),
              .client = client,
              .clock = clock});
  HttpBinding bound;
  bound.handler = [binding](const std::shared_ptr<engine::AttemptRun>& run) {
    std::make_shared<HttpAttempt>(binding, run)->begin();
  };
  if (has_probe) bound.probe = [](const std::shared_ptr<engine::AttemptRun>&) { return false; };
  return bound;
}

}  // namespace recourse::runner
