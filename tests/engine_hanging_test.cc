// A kind whose handlers hang beside one that is quick.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "recourse/engine.h"
#include "tests/engine_fixture.h"
#include "tests/engine_load_support.h"
#include "tests/support/full_form.h"

namespace recourse::tests {
namespace {

// Sees what the engine says of its breakers: the public API has no other word for them.
class BreakerLog {
 public:
  void operator()(std::string_view line) {
    if (line.find("breaker_changed") == std::string_view::npos) return;
    const std::lock_guard lock(mutex_);
    lines_.emplace_back(line);
  }
  [[nodiscard]] int count(std::string_view words) {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(std::ranges::count_if(
        lines_, [&](const std::string& line) { return line.find(words) != std::string::npos; }));
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

// Handlers of the quick kind at once.
constexpr int kQuickLane = 8;

// An engine of its own with a quick kind, and one that hangs until its time is up.
class Workshop {
 public:
  Workshop(const std::string& url, const KindOptions& hanging)
      : engine_(Engine::open(
                    {.store = url,
                     .log = [this](std::string_view, std::string_view line) { breakers_(line); }})
                    .value()) {
    // Long enough to be bound by threads, which is what a hanging kind takes away, and not by what
    // else this machine does.
    engine_.handle_bytes("quick",
                         [this](const Attempt&) {
                           std::this_thread::sleep_for(5ms);
                           ++quick_now_;
                           while (is_held_) std::this_thread::sleep_for(5ms);
                           --quick_now_;
                           ++quick_runs_;
                           return done();
                         },
                         {.concurrency = kQuickLane});
    engine_.handle_bytes(
        "hanging",
        [this](const Attempt& attempt) -> Outcome {
          ++hanging_calls_;
          if (healed_) return done();
          ++hanging_now_;
          while (!attempt.stop_requested() && !healed_) std::this_thread::sleep_for(5ms);
          --hanging_now_;
          return retry("hung");
        },
        hanging);
    EXPECT_TRUE(engine_.start());
  }

  void hang(int tasks, Duration timeout) {
    std::vector<Submission> batch(
        static_cast<std::size_t>(tasks),
        {.kind = "hanging", .payload = "{}", .options = {.max_retries = 100, .timeout = timeout}});
    for (const auto& id : engine_.submit_all(std::move(batch))) EXPECT_TRUE(id);
  }

  void submit_quick(int tasks) {
    std::vector<Submission> batch(static_cast<std::size_t>(tasks),
                                  {.kind = "quick", .payload = "{}"});
    for (const auto& id : engine_.submit_all(std::move(batch))) EXPECT_TRUE(id);
  }
  // Quick tasks a second.
  double quick_throughput(int tasks) {
    const int before = quick_runs_;
    const auto start = Stopwatch::now();
    submit_quick(tasks);
    EXPECT_TRUE(eventually([&] { return quick_runs_ - before >= tasks; }, 30s));
    return tasks / std::chrono::duration<double>(since(start)).count();
  }

  Engine& engine() { return engine_; }
  BreakerLog& breakers() { return breakers_; }
  [[nodiscard]] int hanging_now() const { return hanging_now_; }
  [[nodiscard]] int hanging_calls() const { return hanging_calls_; }
  void heal() { healed_ = true; }
  // Quick handlers stay until they are let go.
  void hold_quick(bool held) { is_held_ = held; }
  [[nodiscard]] int quick_now() const { return quick_now_; }
  [[nodiscard]] int quick_runs() const { return quick_runs_; }

 private:
  BreakerLog breakers_;
  std::atomic<bool> is_held_ = false;
  std::atomic<int> quick_now_ = 0;
  std::atomic<int> quick_runs_ = 0;
  std::atomic<int> hanging_now_ = 0;
  std::atomic<int> hanging_calls_ = 0;
  std::atomic<bool> healed_ = false;
  Engine engine_;
};

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

class Hanging : public ::testing::TestWithParam<const char*> {};

// LOAD-4, by counting: with more tasks hanging than there are threads, all of a quick kind's lane
// runs at once.
TEST_P(Hanging, LeavesAQuickKindAllOfItsThreads) {
  Place place(GetParam());
  Workshop workshop(place.url(), {.breaker = false});
  workshop.hang(100, 60s);
  // A quarter of the threads.
  ASSERT_TRUE(eventually([&] { return workshop.hanging_now() == 8; }));

  workshop.hold_quick(true);
  workshop.submit_quick(3 * kQuickLane);

  EXPECT_TRUE(eventually([&] { return workshop.quick_now() == kQuickLane; }));
  EXPECT_EQ(workshop.hanging_now(), 8) << "the hanging kind has its quarter";
  workshop.hold_quick(false);
  EXPECT_TRUE(eventually([&] { return workshop.quick_runs() == 3 * kQuickLane; }));
  workshop.heal();
}

// LOAD-4: measured in turns, alone and beside, so that whatever else the machine does meets both;
// the medians of the rounds are compared. The breaker is off: it would end the hanging.
TEST_P(Hanging, TakesNothingFromAQuickKind) {
  if (!is_measuring()) GTEST_SKIP() << kMeasuredInFull;
  constexpr int kRounds = 21;
  constexpr int kTasks = 1'000;
  constexpr double kKeeps = 0.9;
  Place alone_place(GetParam());
  Place beside_place(GetParam());
  Workshop alone(alone_place.url(), {});
  Workshop beside(beside_place.url(), {.breaker = false});
  beside.hang(100, 10s);
  ASSERT_TRUE(eventually([&] { return beside.hanging_now() >= 8; }));

  std::vector<double> undisturbed;
  std::vector<double> disturbed;
  // The first round makes threads and connections, and does not count.
  for (int i = 0; i <= kRounds; ++i) {
    const double without = alone.quick_throughput(kTasks);
    const double with = beside.quick_throughput(kTasks);
    if (i == 0) continue;
    undisturbed.push_back(without);
    disturbed.push_back(with);
  }
  EXPECT_GT(beside.hanging_now(), 0) << "nothing hung: the test says nothing";
  beside.heal();

  EXPECT_GE(median(disturbed), median(undisturbed) * kKeeps);
  RecordProperty("quick_alone_per_second", static_cast<int>(median(undisturbed)));
  RecordProperty("quick_beside_per_second", static_cast<int>(median(disturbed)));
}

// LOAD-2, LOAD-3
TEST_P(Hanging, OpensItsBreakerWhichClosesByItselfOnceItIsHealed) {
  Place place(GetParam());
  Workshop workshop(place.url(), {.backoff_base = 50ms,
                                  .backoff_min = 20ms,
                                  .backoff_max = 100ms,
                                  .breaker_calls = 20,
                                  .breaker_min_calls = 10,
                                  .breaker_open_for = 1s,
                                  .breaker_probes = 2});

  workshop.hang(50, 100ms);
  ASSERT_TRUE(eventually([&] { return workshop.breakers().count("to=open") > 0; }));
  const int calls_when_open = workshop.hanging_calls();
  std::this_thread::sleep_for(2s);
  // Two looks of two probes each, with those that had begun; without it there would be 150.
  EXPECT_LE(workshop.hanging_calls() - calls_when_open, 3 * 2 + 8);
  workshop.heal();

  EXPECT_TRUE(eventually(
      [&] {
        return workshop.engine().counts().value()[{"hanging", "succeeded"}] == 50;
      },
      20s));
  EXPECT_GE(workshop.breakers().count("to=closed"), 1);
}

INSTANTIATE_TEST_SUITE_P(Stores, Hanging, ::testing::Values("Memory", "Sqlite", "Postgres"),
                         [](const auto& store) { return std::string(store.param); });

}  // namespace
}  // namespace recourse::tests
