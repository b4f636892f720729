// An engine in a process of its own, so that nothing else counts when its memory is looked at.
//
//   engine_lives STORE TASKS
//
// Runs that many tasks from submit to success, and prints the bytes that are resident then, and the
// most that ever were.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "recourse/engine.h"

namespace {

using namespace std::chrono_literals;

constexpr int kBatch = 500;
const std::string kPayload(200, 'x');

// In bytes.
long long of_this_process(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ':')) return std::atoll(line.c_str() + name.size() + 1) * 1024;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "engine_lives STORE TASKS\n");
    return 2;
  }
  const int tasks = std::atoi(argv[2]);
  auto engine = recourse::Engine::open({.store = argv[1]});
  if (!engine) {
    fmt::print(stderr, "engine_lives: {}\n", engine.error().message);
    return 1;
  }
  engine->handle_bytes("work", [](const recourse::Attempt&) { return recourse::done(); });
  if (!engine->start()) return 1;
  for (int sent = 0; sent < tasks; sent += kBatch) {
    std::vector<recourse::Submission> batch(kBatch, {.kind = "work", .payload = kPayload});
    for (const auto& id : engine->submit_all(std::move(batch))) {
      if (!id) return 1;
    }
  }
  while (engine->counts().value()[{"work", "succeeded"}] < tasks) {
    std::this_thread::sleep_for(10ms);
  }
  fmt::print("{} {}\n", of_this_process("VmRSS"), of_this_process("VmHWM"));
  return 0;
}
