#include "sim/runner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "sim/world.h"

namespace recourse::sim {
namespace {

// Over fewer seeds something may well be left out.
constexpr int kSeedsForCoverage = 200;
constexpr std::uint64_t kTasksMin = 1'000;
constexpr std::uint64_t kFaultsMin = 20;

thread_local std::uint64_t current_seed = 0;

// The product stops itself where it finds an invariant of its own broken; say where.
extern "C" void say_seed(int) {
  char text[96];
  const int size = std::snprintf(text, sizeof text, "seed %llu stopped the program (see above)\n",
                                 static_cast<unsigned long long>(current_seed));
  if (write(STDERR_FILENO, text, static_cast<std::size_t>(size)) < 0) _exit(1);
  _exit(1);
}

struct Sum {
  Mutex mutex;
  Coverage coverage GUARDED_BY(mutex);
  std::optional<SeedResult> broken GUARDED_BY(mutex);
  std::uint64_t hash GUARDED_BY(mutex) = 0;
  int done GUARDED_BY(mutex) = 0;
  std::atomic<int> next = 0;
  std::atomic<bool> stop = false;
};

SeedResult run_one(const Options& options, std::uint64_t seed) {
  current_seed = seed;
  const auto length = std::chrono::duration_cast<Duration>(
      std::chrono::duration<double, std::ratio<3600>>(options.hours));
  const auto world = std::make_unique<World>(seed, options.nodes, length);
  SeedResult result = world->run(options.tail);
  if (!result.violation &&
      (result.coverage.tasks < kTasksMin || result.coverage.fault_total() < kFaultsMin)) {
    result.violation = Violation{.invariant = "a seed is worth its time",
                                 .what = fmt::format("{} tasks, {} faults", result.coverage.tasks,
                                                     result.coverage.fault_total()),
                                 .task = {},
                                 .at = {}};
  }
  return result;
}

void work(const Options& options, Sum& sum) {
  const int seeds = options.seed ? 1 : options.seeds;
  for (int i = sum.next++; i < seeds && !sum.stop; i = sum.next++) {
    const std::uint64_t seed =
        options.seed.value_or(options.first_seed + static_cast<std::uint64_t>(i));
    SeedResult result = run_one(options, seed);
    MutexLock lock(sum.mutex);
    ++sum.done;
    sum.coverage.add(result.coverage);
    // Whatever order they end in.
    sum.hash += result.trace_hash;
    if (!result.violation) continue;
    sum.stop = true;
    if (!sum.broken || seed < sum.broken->seed) sum.broken = std::move(result);
  }
}

void print(const Coverage& coverage) {
  fmt::print("tasks {}, handler starts {}, steps {}\n", coverage.tasks, coverage.handler_starts,
             coverage.steps);
  fmt::print(
      "deaths {}, adoptions {}, takeovers {}, refused {}, already applied {}, in doubt {}, "
      "people told {}\n",
      coverage.deaths, coverage.adoptions, coverage.takeovers, coverage.refused,
      coverage.already_applied, coverage.in_doubt, coverage.told);
  fmt::print("faults {}:\n", coverage.fault_total());
  for (const Fault fault : kAllFaults) {
    fmt::print("  {:<26} {}\n", to_string(fault), coverage.faults[static_cast<std::size_t>(fault)]);
  }
  fmt::print("edges:\n");
  for (std::size_t i = 0; i < task::kEdges.size(); ++i) {
    const task::Edge& edge = task::kEdges[i];
    fmt::print("  {:<8} {:<11} {:<10} {}\n", task::to_string(edge.from), task::to_string(edge.move),
               task::to_string(edge.to), coverage.edges[i]);
  }
}

void print(const SeedResult& broken, const Options& options) {
  const Violation& violation = *broken.violation;
  fmt::print("\nseed {} broke: {}\n  {}", broken.seed, violation.invariant, violation.what);
  if (violation.task != task::TaskId()) fmt::print(" ({})", task::to_string(violation.task));
  fmt::print("\n{}replay: ./dev sim --seed {} --nodes {} --hours {}", broken.tail, broken.seed,
             options.nodes, options.hours);
  if (options.bug != PlantedBug::kNone) fmt::print(" --bug {}", to_string(options.bug));
  fmt::print("\n");
}

}  // namespace

int run_seeds(const Options& options) {
  if (options.help) return std::fputs(help_text().c_str(), stdout) < 0 ? 1 : 0;
  if (options.list_bugs) {
    for (const NamedBug& bug : kPlantedBugs) fmt::print("{}\n", bug.name);
    return 0;
  }
  plant_bug(options.bug);
  std::signal(SIGABRT, say_seed);
  Sum sum;
  {
    const unsigned processors = std::max(1U, std::thread::hardware_concurrency());
    const int threads = options.threads > 0 ? options.threads : static_cast<int>(processors);
    std::vector<std::jthread> workers;
    for (int i = 0; i < threads; ++i) workers.emplace_back([&] { work(options, sum); });
  }
  MutexLock lock(sum.mutex);
  print(sum.coverage);
  fmt::print("seeds {}, trace hash {:016x}\n", sum.done, sum.hash);
  if (sum.broken) {
    print(*sum.broken, options);
    return 1;
  }
  const std::vector<std::string> missing = sum.coverage.missing();
  if (sum.done >= kSeedsForCoverage && !missing.empty()) {
    for (const std::string& what : missing) fmt::print("never happened: {}\n", what);
    return 1;
  }
  return 0;
}

}  // namespace recourse::sim
