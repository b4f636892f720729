#include "bench/engine_apart.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <numeric>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/store_line.h"
#include "recourse/engine.h"

namespace recourse::bench {
namespace {

using namespace std::chrono_literals;
// The same in all processes of a machine: it counts from when that was started.
using Stopwatch = std::chrono::steady_clock;

constexpr int kLives = 50'000;
constexpr int kApartBatch = 500;
constexpr int kApartPickups = 250;
constexpr Duration kIdle = 20s;
const std::string kApartPayload(200, 'x');

double processor_seconds() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return of(use.ru_utime) + of(use.ru_stime);
}

std::string of_this_process(std::string_view name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name)) return line.substr(line.find_first_not_of(" \t", name.size() + 1));
  }
  return "unknown";
}

void wait_for_all(Engine& engine, std::int64_t tasks) {
  while (must(engine.counts())[{kKind.value, "succeeded"}] < tasks) {
    std::this_thread::sleep_for(10ms);
  }
}

void live(const std::string& url) {
  Engine engine = must(Engine::open({.store = url}));
  engine.handle_bytes(kKind.value, [](const Attempt&) { return done(); });
  must(engine.start());
  for (int sent = 0; sent < kLives; sent += kApartBatch) {
    std::vector<Submission> batch(kApartBatch, {.kind = kKind.value, .payload = kApartPayload});
    for (auto& id : engine.submit_all(std::move(batch))) must(std::move(id));
  }
  wait_for_all(engine, kLives);
  fmt::print("{}, the most {}\n", of_this_process("VmRSS"), of_this_process("VmHWM"));
}

// Runs what another process submits; the payload says when.
void run_what_comes(const std::string& url) {
  std::mutex mutex;
  std::vector<double> waits;
  Engine engine = must(Engine::open({.store = url}));
  engine.handle_bytes(kKind.value, [&](const Attempt& attempt) {
    const auto now = Stopwatch::now().time_since_epoch();
    const std::chrono::nanoseconds submitted(std::atoll(attempt.payload().c_str()));
    const std::lock_guard lock(mutex);
    waits.push_back(std::chrono::duration<double, std::milli>(now - submitted).count());
    return done();
  });
  must(engine.start());
  wait_for_all(engine, kApartPickups);
  std::ranges::sort(waits);
  fmt::print("mean {:.1f} ms, p99 {:.1f} ms, most {:.1f} ms\n",
             std::accumulate(waits.begin(), waits.end(), 0.0) / static_cast<double>(waits.size()),
             waits[waits.size() * 99 / 100], waits.back());
}

// Not the link itself: to the shell in between it means the shell.
std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

class Child {
 public:
  Child(const std::string& part, const std::string& url)
      : pipe_(::popen(fmt::format("'{}' {} '{}'", this_program(), part, url).c_str(), "r")) {
    if (pipe_ == nullptr) give_up("cannot start a process");
  }
  ~Child() { ::pclose(pipe_); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Waits for it.
  std::string line() {
    std::array<char, 256> buffer{};
    if (std::fgets(buffer.data(), buffer.size(), pipe_) == nullptr) give_up("a process has failed");
    return buffer.data();
  }

 private:
  std::FILE* pipe_;
};

}  // namespace

bool run_as_child(int argc, char** argv) {
  if (argc != 3) return false;
  const std::string_view part = argv[1];
  if (part == "--live") live(argv[2]);
  if (part == "--run") run_what_comes(argv[2]);
  return part == "--live" || part == "--run";
}

void print_idle(const std::string& name, const std::string& url) {
  Engine engine = must(Engine::open({.store = url}));
  engine.handle_bytes(kKind.value, [](const Attempt&) { return done(); });
  must(engine.start());
  must(engine.submit_bytes(kKind.value, kApartPayload));
  wait_for_all(engine, 1);
  std::this_thread::sleep_for(2s);
  const double before = processor_seconds();
  std::this_thread::sleep_for(kIdle);
  const double used = processor_seconds() - before;
  fmt::print("{:<10} idle: {:.3f}% of a processor\n", name,
             100 * used / std::chrono::duration<double>(kIdle).count());
}

void print_memory(const std::string& name, const std::string& url) {
  fmt::print("{:<10} memory of a process after {} tasks: {}", name, kLives,
             Child("--live", url).line());
}

void print_pickup_apart(const std::string& name, const std::string& url) {
  Engine submitter = must(Engine::open({.store = url}));
  must(submitter.start());
  Child runner("--run", url);
  // Joined, and past its first scan.
  std::this_thread::sleep_for(2s);
  for (int i = 0; i < kApartPickups; ++i) {
    const auto start = Stopwatch::now();
    must(submitter.submit_bytes(kKind.value, std::to_string(start.time_since_epoch() / 1ns)));
    std::this_thread::sleep_until(start + 20ms);
  }
  fmt::print("{:<10} pickup by another process: {}", name, runner.line());
}

}  // namespace recourse::bench
