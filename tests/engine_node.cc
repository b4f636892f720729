// A node as a process of its own, for tests that kill it: submits at a rate, runs what it gets, and
// writes down what it does, a line at a time, so that a kill loses at most the line being written.
//
//   engine_node STORE LEDGER SUBMITS_PER_SECOND HANDLER_MS
//
// A id            a submit was acknowledged
// S id fence t    a handler starts
// E id fence t    it ends; t in microseconds since the machine started
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include "base/clock.h"
#include "recourse/engine.h"
#include "tests/support/ledger.h"

namespace {

using namespace std::chrono_literals;

std::atomic<bool> asked_to_stop = false;

using recourse::tests::Ledger;

long long since_boot() {
  static const recourse::SystemClock clock;
  return clock.since_boot().time_since_epoch().count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "engine_node STORE LEDGER SUBMITS_PER_SECOND HANDLER_MS\n");
    return 2;
  }
  const Ledger ledger(argv[2]);
  const int per_second = std::atoi(argv[3]);
  const auto takes = std::chrono::milliseconds(std::atoi(argv[4]));
  std::signal(SIGTERM, [](int) { asked_to_stop = true; });

  auto engine = recourse::Engine::open(
      {.store = argv[1], .lease_ttl = 1s, .renew_ahead = 300ms, .scan_period = 200ms});
  if (!engine) {
    fmt::print(stderr, "engine_node: {}\n", engine.error().message);
    return 1;
  }
  engine->handle_bytes(
      "work",
      [&](const recourse::Attempt& attempt) {
        ledger.write(fmt::format("S {} {} {}\n", attempt.id(), attempt.fence(), since_boot()));
        std::this_thread::sleep_for(takes);
        ledger.write(fmt::format("E {} {} {}\n", attempt.id(), attempt.fence(), since_boot()));
        return recourse::done();
      },
      {.concurrency = 16});
  if (const auto started = engine->start(); !started) {
    fmt::print(stderr, "engine_node: {}\n", started.error().message);
    return 1;
  }
  const int batch = 5;
  while (!asked_to_stop) {
    std::vector<recourse::Submission> tasks(
        per_second > 0 ? batch : 0, {.kind = "work", .payload = "{}", .options = {.timeout = 5s}});
    for (const auto& id : engine->submit_all(std::move(tasks))) {
      if (id) ledger.write(fmt::format("A {}\n", *id));
    }
    std::this_thread::sleep_for(per_second > 0 ? 1'000'000us * batch / per_second : 20'000us);
  }
  const recourse::StopReport report = engine->stop(5s);
  ledger.write(fmt::format("T {} {} {}\n", report.released, report.finished, report.cut_off));
  return 0;
}
