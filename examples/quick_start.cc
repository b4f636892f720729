// The quick start: a handler whose downstream answers 500 at first, or does not answer in time, and
// tasks that are finished all the same.
//
//   quick_start [STORE]      sqlite:FILE, postgres://..., mysql://..., or memory: (the default)
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "recourse/engine.h"
#include "recourse/json.h"

using namespace std::chrono_literals;

struct Call {
  std::string url;
  std::string body;
  int simulate_status = 200;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Call, url, body, simulate_status)

namespace {

// A downstream that is ill when a task first meets it, and well afterwards.
bool is_first_visit(const std::string& id) {
  static std::mutex mutex;
  static std::map<std::string, int> visits;
  const std::lock_guard lock(mutex);
  return visits[id]++ == 0;
}

recourse::Outcome call_remote(const recourse::Attempt& attempt, const Call& call) {
  std::printf("attempt %d of %s: POST %s\n", attempt.number(), attempt.id().c_str(),
              call.url.c_str());
  if (!is_first_visit(attempt.id())) return recourse::done();
  if (call.simulate_status == 500) throw std::runtime_error("remote 500");
  if (call.simulate_status == 408) {
    // Longer than its timeout. A good handler watches the token.
    for (int i = 0; i < 50 && !attempt.stop_requested(); ++i) std::this_thread::sleep_for(100ms);
  }
  return recourse::done();
}

bool wait_for(recourse::Engine& engine, const std::string& id, const std::string& state) {
  for (int i = 0; i < 300; ++i) {
    const auto task = engine.find(id);
    if (task && task->state == state) {
      std::printf("%s is %s after %d attempts\n", id.c_str(), state.c_str(), task->attempts);
      return true;
    }
    std::this_thread::sleep_for(50ms);
  }
  std::printf("%s is not %s\n", id.c_str(), state.c_str());
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  auto engine = recourse::Engine::open({.store = argc > 1 ? argv[1] : "memory:"});
  if (!engine) {
    std::fprintf(stderr, "quick_start: %s\n", engine.error().message.c_str());
    return 1;
  }
  engine->handle<Call>("test-biz", call_remote, {.backoff_base = 500ms});
  if (const auto started = engine->start(); !started) {
    std::fprintf(stderr, "quick_start: %s\n", started.error().message.c_str());
    return 1;
  }

  bool all_well = true;
  for (const int status : {200, 500, 408}) {
    const auto id = engine->submit("test-biz",
                                   Call{.url = "https://points.example/grant",
                                        .body = "hello world",
                                        .simulate_status = status},
                                   {.max_retries = 8,
                                    .priority = 10,
                                    .timeout = 1s,
                                    .deadline = recourse::in(10min),
                                    .backoff = "exponential"});
    if (!id) {
      std::fprintf(stderr, "quick_start: %s\n", id.error().message.c_str());
      return 1;
    }
    all_well = wait_for(*engine, *id, "succeeded") && all_well;
  }
  const recourse::StopReport report = engine->stop(5s);
  std::printf("stopped: %d handed back, %d cut off\n", report.released, report.cut_off);
  return all_well ? 0 : 1;
}
