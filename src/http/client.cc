#include "http/client.h"

#include <csignal>
#include <future>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/field_checks.h"
#include "base/mutex.h"
#include "base/thread_name.h"
#include "http/admission.h"
#include "http/curl_call.h"
#include "http/curl_loop.h"

namespace recourse::http {
namespace {

using Time = std::chrono::steady_clock::time_point;

// libcurl remembers an address for 60 seconds; what is forgotten here first is never looked up by
// many at once.
constexpr Duration kAddressKnownFor = std::chrono::seconds(50);

Time saturating_deadline(Duration timeout) {
  return std::chrono::steady_clock::now() + std::min(timeout, kLongestWait);
}

class CurlClient final : public Client, private CallProgress {
 public:
  CurlClient(Settings settings, std::unique_ptr<CurlLoop> loop)
      : settings_(std::move(settings)),
        loop_(std::move(loop)),
        admission_(settings_.connections_max, settings_.connections_per_host_max, kAddressKnownFor),
        thread_([this] { run(); }) {}
  ~CurlClient() override {
    {
      MutexLock lock(mutex_);
      ending_ = true;
    }
    loop_->wake();
    thread_.join();
  }

  CallId send(Call call, std::function<void(CallResult)> ended) override;
  void cancel(CallId call) override;

 private:
  struct Asked {
    std::unique_ptr<CurlCall> call;
    Time deadline;
  };
  struct Posted {
    std::vector<Asked> calls;
    std::vector<CallId> cancelled;
    bool ending = false;
  };

  void run();
  Posted take_posted();
  void take_up(Asked asked);
  void start_those_that_may();
  void time_out_those_late();
  void end_those_finished();
  void end_all();
  void end(CallId id, const std::function<CallResult(CurlCall&)>& result_of);
  void stop(CallId id, std::string_view why);
  [[nodiscard]] Time next_deadline() const;

  void found_address(CallId call) override {
    admission_.found_address(call, std::chrono::steady_clock::now());
  }
  void connected(CallId call) override { admission_.needed_no_address(call); }

  const CurlUse use_;
  const Settings settings_;

  Mutex mutex_;
  std::vector<Asked> asked_ GUARDED_BY(mutex_);
  std::vector<CallId> cancelled_ GUARDED_BY(mutex_);
  CallId ids_ GUARDED_BY(mutex_) = 0;
  bool ending_ GUARDED_BY(mutex_) = false;

  std::unique_ptr<CurlLoop> loop_;
  // Of the client's thread alone.
  Admission admission_;
  struct Known {
    std::unique_ptr<CurlCall> call;
    Time deadline;
    bool is_out = false;
  };
  std::unordered_map<CallId, Known> calls_;
  std::set<std::pair<Time, CallId>> deadlines_;

  std::thread thread_;
};

CallId CurlClient::send(Call call, std::function<void(CallResult)> ended) {
  const Time deadline = saturating_deadline(call.timeout);
  CallProgress& progress = *this;
  CallId id = 0;
  bool wake = false;
  {
    MutexLock lock(mutex_);
    id = ++ids_;
    // Who finds something there knows that the thread has been woken for it.
    wake = asked_.empty() && cancelled_.empty();
    asked_.push_back(
        {std::make_unique<CurlCall>(id, std::move(call), std::move(ended), progress), deadline});
  }
  if (wake) loop_->wake();
  return id;
}

void CurlClient::cancel(CallId call) {
  {
    MutexLock lock(mutex_);
    cancelled_.push_back(call);
  }
  loop_->wake();
}

CurlClient::Posted CurlClient::take_posted() {
  MutexLock lock(mutex_);
  return {.calls = std::exchange(asked_, {}),
          .cancelled = std::exchange(cancelled_, {}),
          .ending = ending_};
}

void CurlClient::run() {
  name_this_thread("http-client");
  // A connection that the other side has closed must not end the program.
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  while (true) {
    Posted posted = take_posted();
    for (Asked& asked : posted.calls) take_up(std::move(asked));
    for (const CallId id : posted.cancelled) stop(id, "the call was cancelled");
    if (posted.ending) break;
    time_out_those_late();
    start_those_that_may();
    loop_->turn(next_deadline());
    end_those_finished();
  }
  end_all();
}

void CurlClient::take_up(Asked asked) {
  CurlCall& call = *asked.call;
  if (const Result<> good = call.check(); !good) {
    call.end(call.failed(CallTrouble::kForbidden, good.error().message));
    return;
  }
  const CallId id = call.id();
  admission_.arrive(id, call.destination().origin, call.destination().has_name);
  deadlines_.emplace(asked.deadline, id);
  calls_.emplace(id, Known{.call = std::move(asked.call), .deadline = asked.deadline});
}

void CurlClient::start_those_that_may() {
  while (const auto id = admission_.next(std::chrono::steady_clock::now())) {
    Known& known = calls_.at(*id);
    known.is_out = known.call->prepare(settings_) && loop_->add(known.call->easy());
    if (known.is_out) continue;
    end(*id, [](CurlCall& call) {
      return call.failed(CallTrouble::kUnreachable, "the machine has no memory left for the call");
    });
  }
}

void CurlClient::time_out_those_late() {
  const Time now = std::chrono::steady_clock::now();
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    end(deadlines_.begin()->second, [](CurlCall& call) {
      return call.failed(CallTrouble::kTimedOut,
                         "no answer within " + format_duration(call.call().timeout));
    });
  }
}

void CurlClient::end_those_finished() {
  while (const auto finished = loop_->next_finished()) {
    CurlCall* call = nullptr;
    curl_easy_getinfo(finished->easy, CURLINFO_PRIVATE, &call);
    const CURLcode code = finished->code;
    std::vector<CallId> same;
    // The library remembers no failure: those who wait for the same name would ask once each.
    if (code == CURLE_COULDNT_RESOLVE_HOST) same = admission_.take_waiting_with(call->id());
    const auto result_of = [code](CurlCall& one) { return one.result(code); };
    end(call->id(), result_of);
    for (const CallId id : same) end(id, result_of);
  }
}

// Forgotten before it is told, so that whoever hears of it may send the next.
void CurlClient::end(CallId id, const std::function<CallResult(CurlCall&)>& result_of) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  Known known = std::move(found->second);
  calls_.erase(found);
  deadlines_.erase({known.deadline, id});
  if (known.is_out) loop_->remove(known.call->easy());
  admission_.leave(id);
  known.call->end(result_of(*known.call));
}

void CurlClient::stop(CallId id, std::string_view why) {
  end(id, [why](CurlCall& call) { return call.failed(CallTrouble::kStopped, why); });
}

// Those who hear of it may send again: that is stopped too.
void CurlClient::end_all() {
  constexpr std::string_view kWhy = "the HTTP client ends";
  do {
    while (!calls_.empty()) stop(calls_.begin()->first, kWhy);
    for (Asked& asked : take_posted().calls) take_up(std::move(asked));
  } while (!calls_.empty());
}

Time CurlClient::next_deadline() const {
  return deadlines_.empty() ? Time::max() : deadlines_.begin()->first;
}

}  // namespace

Result<std::unique_ptr<Client>> Client::open(const Settings& settings) {
  using namespace std::chrono_literals;
  const Result<> valid =
      FieldChecks("http_client")
          .between("connections_max", settings.connections_max, 1, 100'000)
          .between("connections_per_host_max", settings.connections_per_host_max, 1, 100'000)
          .between<Duration>("connect_within", settings.connect_within, 1ms, 1h)
          .result();
  if (!valid) return fail(valid.error());
  const CurlUse use;
  if (!use.good()) return fail(ErrorCode::kUnavailable, "libcurl does not start");
  Result<std::unique_ptr<CurlLoop>> loop = CurlLoop::open(settings.connections_max);
  if (!loop) return fail(std::move(loop).error());
  return std::unique_ptr<Client>(std::make_unique<CurlClient>(settings, *std::move(loop)));
}

CallResult fetch(Client& client, Call call) {
  // Shared: the client's thread may still be inside it when the answer is here.
  const auto promise = std::make_shared<std::promise<CallResult>>();
  std::future<CallResult> answer = promise->get_future();
  client.send(std::move(call),
              [promise](CallResult result) { promise->set_value(std::move(result)); });
  return answer.get();
}

}  // namespace recourse::http
