// ./dev bench engine: whole lives of tasks through the engine, beside plain SQL on the same tables.
//
//   life, batched   8 threads submit 500 at a time. Limit: the loop of ./dev bench store, three
//                   statements per life in batches of 500, the best of its numbers of connections.
//   life, waiting   8 threads that each wait for their own durable answer. Limit: 8 clients that
//                   run single rows of plain SQL.
//   pickup          from the call of submit to the start of the handler, at 50 tasks a second; in
//                   one process, and from one to another, which finds it by its next scan.
//   idle, memory    of an engine without work; of a process that has run 50,000 tasks.
//
// The best of some rounds counts, the sides take turns.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/function_ref.h"
#include "bench/engine_apart.h"
#include "bench/report.h"
#include "bench/store_sides.h"
#include "recourse/engine.h"

namespace recourse::bench {
namespace {

using namespace std::chrono_literals;
using Stopwatch = std::chrono::steady_clock;

constexpr int kRounds = 3;
constexpr std::size_t kBatch = 500;
constexpr std::size_t kThreads = 8;
constexpr std::size_t kWaitingTasks = 4'000;
constexpr int kPickups = 250;
const std::string kPayload(200, 'x');

double seconds_since(Stopwatch::time_point start) {
  return std::chrono::duration<double>(Stopwatch::now() - start).count();
}

void in_threads(std::size_t threads, FunctionRef<void(std::size_t)> work) {
  std::vector<std::jthread> crew;
  for (std::size_t i = 0; i < threads; ++i) crew.emplace_back([&, i] { work(i); });
}

std::vector<store::Submission> some_submissions(std::size_t count, UlidSequence& ids) {
  std::vector<store::Submission> made(count);
  const TimePoint now = wall_time();
  for (store::Submission& submission : made) {
    submission.id = task::TaskId(ids.next(now));
    submission.spec.kind = kKind;
    submission.spec.priority = kPriority;
    submission.spec.payload = kPayload;
  }
  return made;
}

// Lives a second of plain SQL.
double loop_lives(Side& side, std::size_t connections, std::size_t batch, std::size_t tasks) {
  std::vector<std::unique_ptr<Line>> lines;
  for (std::size_t i = 0; i < connections; ++i) lines.push_back(side.line());
  std::atomic<std::size_t> finished = 0;
  const auto start = Stopwatch::now();
  in_threads(connections, [&](std::size_t i) {
    UlidSequence ids(new_seed());
    for (std::size_t sent = 0; sent < tasks / connections; sent += batch) {
      lines[i]->insert(some_submissions(batch, ids));
      lines[i]->claim(batch);
      finished += lines[i]->succeed();
    }
    while (finished < tasks / connections / batch * batch * connections) {
      lines[i]->claim(batch);
      finished += lines[i]->succeed();
    }
  });
  return static_cast<double>(finished) / seconds_since(start);
}

class NoOpEngine {
 public:
  explicit NoOpEngine(const std::string& url) : engine_(must(Engine::open({.store = url}))) {
    engine_.handle_bytes(kKind.value, [this](const Attempt&) {
      started_ = Stopwatch::now();
      ++runs_;
      return done();
    });
    must(engine_.start());
    // Joined, connected and warm.
    must(engine_.submit_bytes(kKind.value, kPayload));
    wait_for(1);
  }

  Engine& engine() { return engine_; }
  [[nodiscard]] Stopwatch::time_point last_start() const { return started_; }
  [[nodiscard]] std::int64_t runs() const { return runs_; }

  void wait_for(std::int64_t succeeded) {
    while (must(engine_.counts())[{kKind.value, "succeeded"}] < succeeded) {
      std::this_thread::sleep_for(1ms);
    }
  }

 private:
  std::atomic<Stopwatch::time_point> started_{};
  std::atomic<std::int64_t> runs_ = 0;
  Engine engine_;
};

double batched_lives(const std::string& url, std::size_t tasks) {
  NoOpEngine ours(url);
  const std::size_t each = tasks / kThreads;
  const auto start = Stopwatch::now();
  in_threads(kThreads, [&](std::size_t) {
    for (std::size_t sent = 0; sent < each; sent += kBatch) {
      std::vector<Submission> batch(std::min(kBatch, each - sent),
                                    {.kind = kKind.value, .payload = kPayload});
      for (auto& id : ours.engine().submit_all(std::move(batch))) must(std::move(id));
    }
  });
  ours.wait_for(static_cast<std::int64_t>(each * kThreads) + 1);
  return static_cast<double>(each * kThreads) / seconds_since(start);
}

double waiting_lives(const std::string& url) {
  NoOpEngine ours(url);
  const std::size_t each = kWaitingTasks / kThreads;
  const auto start = Stopwatch::now();
  in_threads(kThreads, [&](std::size_t) {
    for (std::size_t i = 0; i < each; ++i) {
      must(ours.engine().submit_bytes(kKind.value, kPayload));
    }
  });
  ours.wait_for(static_cast<std::int64_t>(each * kThreads) + 1);
  return static_cast<double>(each * kThreads) / seconds_since(start);
}

void print_pickup(const std::string& name, const std::string& url) {
  NoOpEngine ours(url);
  std::vector<double> waits;
  for (int i = 0; i < kPickups; ++i) {
    const std::int64_t before = ours.runs();
    const auto start = Stopwatch::now();
    must(ours.engine().submit_bytes(kKind.value, kPayload));
    while (ours.runs() == before) std::this_thread::yield();
    waits.push_back(std::chrono::duration<double, std::milli>(ours.last_start() - start).count());
    std::this_thread::sleep_until(start + 20ms);
  }
  std::ranges::sort(waits);
  fmt::print("{:<10} pickup: mean {:.2f} ms, p99 {:.2f} ms\n", name,
             std::accumulate(waits.begin(), waits.end(), 0.0) / static_cast<double>(waits.size()),
             waits[waits.size() * 99 / 100]);
}

Figure lives(const Contest& contest, const std::string& how, double ours, const std::string& beside,
             double limit) {
  return {.bench = "engine",
          .name = fmt::format("{}, life, {}", contest.name, how),
          .value = ours,
          .unit = "/s",
          .comparison = Comparison{.reference = fmt::format("{} ({:.0f}/s)", beside, limit),
                                   .ratio = ours / limit},
          .goal = ""};
}

// What is no ratio is for people alone.
void run_contest(const Contest& contest, Format format) {
  const std::size_t tasks = contest.tasks * 4;
  double limit = 0;
  double ours = 0;
  double single_limit = 0;
  double single_ours = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (const std::size_t connections : contest.connections) {
      limit = std::max(limit, loop_lives(*contest.limit(), connections, kBatch, contest.tasks));
    }
    ours = std::max(ours, batched_lives(contest.limit()->url(), tasks));
  }
  const std::size_t clients = contest.connections.size() > 1 ? kThreads : 1;
  for (int round = 0; round < kRounds; ++round) {
    single_limit = std::max(single_limit, loop_lives(*contest.limit(), clients, 1, kWaitingTasks));
    single_ours = std::max(single_ours, waiting_lives(contest.limit()->url()));
  }
  print({lives(contest, "batched", ours, "plain SQL", limit),
         lives(contest, "waiting", single_ours, fmt::format("single rows by {} clients", clients),
               single_limit)},
        format);
  if (format == Format::kJson) return;
  print_pickup(contest.name, contest.limit()->url());
  print_idle(contest.name, contest.limit()->url());
  print_memory(contest.name, contest.limit()->url());
  // A SQLite database is one process's.
  if (contest.connections.size() > 1) {
    print_pickup_apart(contest.name, contest.limit()->url());
  }
}

int run(int argc, char** argv) {
  if (run_as_child(argc, argv)) return 0;
  const Format format = take_format(argc, argv);
  const std::string only = argc > 1 ? argv[1] : "";
  for (const Contest& contest : contests()) {
    if (only.empty() || only == contest.name) run_contest(contest, format);
  }
  if (format == Format::kJson) return 0;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM"))
      fmt::print("the most memory of this process: {}\n", line.substr(6));
  }
  return 0;
}

}  // namespace
}  // namespace recourse::bench

int main(int argc, char** argv) { return recourse::bench::run(argc, argv); }
