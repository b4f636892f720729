// ./dev bench wheel: the timing wheel beside std::multimap and Boost.Asio's timer queue, with a
// million timers pending.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "bench/report.h"
#include "bench/timer_contenders.h"

namespace recourse::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kPending = 1'000'000;
// As many timeouts as a busy node has running at once.
constexpr std::size_t kBatch = 256;

// Retries wait up to five minutes.
std::vector<Duration> random_delays(std::size_t count, Duration longest) {
  Rng rng(1);
  std::vector<Duration> delays(count);
  for (Duration& delay : delays) delay = rng.between(Duration(1ms), longest);
  return delays;
}

// Timeouts that are not needed after all: the most frequent thing a timer does.
template <class Contender>
void schedule_cancel(benchmark::State& state) {
  Contender timers(kPending + kBatch);
  const std::vector<Duration> delays = random_delays(kPending + kBatch, 300s);
  for (std::size_t i = 0; i < kPending; ++i) timers.add(i, delays[i] + 3'600s);

  for (auto _ : state) {
    for (std::size_t i = kPending; i < kPending + kBatch; ++i) timers.add(i, delays[i] + 3'600s);
    for (std::size_t i = kPending; i < kPending + kBatch; ++i) timers.cancel(i);
    timers.settle();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}

// Any of the million, so that each one's memory is cold.
template <class Contender>
void move_any(benchmark::State& state) {
  Contender timers(kPending);
  const std::vector<Duration> delays = random_delays(kPending, 300s);
  for (std::size_t i = 0; i < kPending; ++i) timers.add(i, delays[i] + 3'600s);
  Rng rng(2);
  std::vector<std::pair<std::size_t, Duration>> moves(kBatch);

  for (auto _ : state) {
    state.PauseTiming();
    for (auto& [i, delay] : moves) {
      i = rng.between(0, kPending - 1);
      delay = rng.between(Duration(3'600s), Duration(3'900s));
    }
    state.ResumeTiming();
    for (const auto& [i, delay] : moves) {
      timers.cancel(i);
      timers.add(i, delay);
    }
    timers.settle();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}

struct Filled {
  double schedule_seconds;
  double fire_seconds;
};

template <class Contender>
Filled fill_and_drain(Duration longest, benchmark::State& state) {
  const std::vector<Duration> delays = random_delays(kPending, longest);
  Contender timers(kPending);
  const auto begin = Stopwatch::now();
  for (std::size_t i = 0; i < kPending; ++i) timers.add(i, delays[i]);
  const std::chrono::duration<double> scheduled = Stopwatch::now() - begin;
  const std::chrono::duration<double> drained = timers.drain();
  if (timers.fired() != kPending) state.SkipWithError("timers were lost");
  return {scheduled.count(), drained.count()};
}

// Asio's timers run by the real clock, so theirs are spread over less time; its cost does not
// depend on that.
template <class Contender>
constexpr Duration kLongest = std::is_same_v<Contender, Asio> ? Duration(1s) : Duration(300s);

template <class Contender>
void schedule_fire(benchmark::State& state) {
  for (auto _ : state) {
    const Filled filled = fill_and_drain<Contender>(kLongest<Contender>, state);
    state.SetIterationTime(filled.schedule_seconds + filled.fire_seconds);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kPending));
}

template <class Contender>
void expire(benchmark::State& state) {
  for (auto _ : state) {
    state.SetIterationTime(fill_and_drain<Contender>(kLongest<Contender>, state).fire_seconds);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kPending));
}

std::size_t heap_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

double bytes_per_timer() {
  const std::vector<Duration> delays = random_delays(kPending, 300s);
  std::vector<timing::Timer> timers(kPending);
  const std::size_t before = heap_in_use();
  const auto wheel =
      std::make_unique<timing::TimingWheel>(kStart, timing::WheelSettings{.max_pending = kPending});
  for (std::size_t i = 0; i < kPending; ++i) {
    if (!wheel->schedule(timers[i], kStart + delays[i])) return 0;
  }
  return static_cast<double>(heap_in_use() - before) / kPending + sizeof(timing::Timer);
}

// Nanoseconds per timer of every repetition, by "case/contender".
class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.error_occurred) failed_ = true;
      if (run.run_type != Run::RT_Iteration || run.error_occurred) continue;
      seen_[run.run_name.function_name].push_back(1e9 / run.counters.at("items_per_second"));
    }
  }
  // Nothing where a filter left it out.
  [[nodiscard]] std::optional<double> median(const std::string& name) {
    std::vector<double>& values = seen_[name];
    if (values.empty()) return std::nullopt;
    std::ranges::sort(values);
    return values[values.size() / 2];
  }
  [[nodiscard]] bool failed() const { return failed_ || seen_.empty(); }

 private:
  std::map<std::string, std::vector<double>> seen_;
  bool failed_ = false;
};

struct Case {
  const char* name;
  const char* goal;
};
constexpr Case kCases[] = {{"schedule_cancel", "at most 40 ns, at least 5x"},
                           {"move_any", ""},
                           {"expire", "at most 50 ns"},
                           {"schedule_fire", "at least 5x"}};

template <class Contender>
void register_contender() {
  const auto name = [](const char* what) { return fmt::format("{}/{}", what, Contender::kName); };
  benchmark::RegisterBenchmark(name("schedule_cancel").c_str(), schedule_cancel<Contender>);
  benchmark::RegisterBenchmark(name("move_any").c_str(), move_any<Contender>);
  for (auto* slow :
       {benchmark::RegisterBenchmark(name("expire").c_str(), expire<Contender>),
        benchmark::RegisterBenchmark(name("schedule_fire").c_str(), schedule_fire<Contender>)}) {
    slow->UseManualTime()->Iterations(1);
  }
}

// Ours, compared with the better of the others, and then the others.
void add_figures(const Case& which, Collector& collector, std::vector<Figure>& figures) {
  std::vector<Figure> others;
  for (const char* const contender : {Multimap::kName, Asio::kName}) {
    const std::string name = fmt::format("{}/{}", which.name, contender);
    if (const auto median = collector.median(name)) {
      others.push_back({"wheel", name, *median, "ns", std::nullopt, ""});
    }
  }
  if (const auto ours = collector.median(fmt::format("{}/{}", which.name, Wheel::kName))) {
    Figure figure{"wheel", which.name, *ours, "ns", std::nullopt, which.goal};
    if (const auto best = std::ranges::min_element(others, {}, &Figure::value);
        best != others.end()) {
      const std::string reference = best->name.substr(best->name.find('/') + 1);
      figure.comparison = Comparison{reference, best->value / *ours};
    }
    figures.push_back(std::move(figure));
  }
  figures.insert(figures.end(), others.begin(), others.end());
}

int run(int argc, char** argv) {
  const Format format = take_format(argc, argv);
  std::vector<char*> arguments(argv, argv + argc);
  char repetitions[] = "--benchmark_repetitions=5";
  char interleaving[] = "--benchmark_enable_random_interleaving=true";
  arguments.insert(arguments.begin() + 1, {repetitions, interleaving});
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;

  register_contender<Wheel>();
  register_contender<Multimap>();
  register_contender<Asio>();
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  if (collector.failed()) return 1;

  std::vector<Figure> figures;
  for (const Case& which : kCases) add_figures(which, collector, figures);
  figures.push_back(
      {"wheel", "memory_per_timer", bytes_per_timer(), "bytes", std::nullopt, "at most 64 bytes"});
  print(figures, format);
  return 0;
}

}  // namespace
}  // namespace recourse::bench

int main(int argc, char** argv) { return recourse::bench::run(argc, argv); }
