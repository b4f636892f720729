// A node stops under load, again and again, beside one that goes on.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "embed/open_store.h"
#include "recourse/engine.h"
#include "tests/engine_fixture.h"
#include "tests/engine_load_support.h"
#include "tests/support/full_form.h"

namespace recourse::tests {
namespace {

// Far longer than the test: what comes back sooner was handed back, and not taken over.
constexpr Duration kStopTtl = 60s;
constexpr Duration kScanPeriod = 500ms;
// Wide, because it was seen: beside three busy loops a stop on MariaDB overran its limit by 3.0 s
// once, and what was cut off began elsewhere after 2.3 s; why is not known. In two runs without
// them it was 14 ms and 173 ms. A takeover would need 90 s.
constexpr Duration kAtOnce = 5s;
constexpr Duration kStopSlack = 4s;

class Leaving : public ::testing::TestWithParam<const char*> {
 protected:
  Engine node(const std::string& name, int concurrency) {
    Engine engine = Engine::open({.store = place_.url(),
                                  .node = name,
                                  .lease_ttl = kStopTtl,
                                  .scan_period = kScanPeriod})
                        .value();
    engine.handle_bytes("work",
                        [this, name](const Attempt& attempt) {
                          book_.begin(attempt, name);
                          // Deaf to its stop token: the worst that can run when a limit is over.
                          std::this_thread::sleep_for(
                              attempt.payload() == "long" && name != "stays" ? 400ms : 10ms);
                          book_.end(attempt);
                          return done();
                        },
                        {.concurrency = concurrency});
    EXPECT_TRUE(engine.start());
    return engine;
  }

  // More than the node can run, so that something waits in it when it stops; until it is refused.
  void submit_until_refused(Engine& engine, std::size_t batch_of, const Submission& one,
                            Duration pause) {
    for (bool refused = false; !refused;) {
      std::vector<Submission> batch(batch_of, one);
      for (const auto& answer : engine.submit_all(std::move(batch))) {
        book_.answered(answer);
        refused = refused || !answer;
      }
      std::this_thread::sleep_for(pause);
    }
  }

  // By what the store says.
  std::size_t held_by(const std::string& name) {
    std::size_t held = 0;
    const std::vector<store::NodeRow> nodes = reader().nodes(10s).value();
    for (const store::NodeRow& row : nodes) {
      if (row.info.name != name) continue;
      EXPECT_TRUE(row.dead) << name << " has not left";
      held += reader()
                  .held_by(task::Owner(row.info.incarnation), {}, store::kPageRowsMax, 10s)
                  .value()
                  .size();
    }
    return held;
  }

  struct Round {
    std::string name;
    Duration limit;
    Stopwatch::time_point stopped_at;
    StopReport report;
  };

  // One life of the leaving node.
  Round live_and_stop(int number) {
    // Every other time something is cut off.
    const bool forced = number % 2 == 1;
    Round round{.name = "leaves-" + std::to_string(number),
                .limit = forced ? Duration(100ms) : Duration(5s),
                .stopped_at = {},
                .report = {}};
    Engine leaver = node(round.name, 4);
    const Submission brief{.kind = "work", .payload = "short"};
    // First, or they would wait behind the others until the stop.
    const Submission lengthy{.kind = "work", .payload = "long", .options = {.priority = 10}};
    std::jthread many([&] { submit_until_refused(leaver, 4, brief, 4ms); });
    std::optional<std::jthread> few;
    if (forced) few.emplace([&] { submit_until_refused(leaver, 1, lengthy, 150ms); });
    std::this_thread::sleep_for(600ms);

    const auto begun = Stopwatch::now();
    round.report = leaver.stop(round.limit);
    round.stopped_at = Stopwatch::now();

    const Duration took = since(begun);
    longest_overrun_ = std::max(longest_overrun_, took - round.limit);
    EXPECT_LE(took, round.limit + kStopSlack);
    EXPECT_TRUE(eventually([&] { return held_by(round.name) == 0; }, kAtOnce))
        << "it left something running";
    return round;
  }

  store::Reader& reader() { return store_.opened->reader(); }

  // Of a task's second home: how long after the stop it began.
  void expect_goes_on_at_once(const Round& round) {
    int began_elsewhere = 0;
    for (const auto& [id, runs] : book_.runs()) {
      const bool was_here = std::ranges::any_of(runs, [&](auto& r) { return r.by == round.name; });
      if (was_here && runs.size() > 1) {
        EXPECT_EQ(runs.size(), 2U) << id;
        const auto after = std::chrono::duration_cast<Duration>(runs[1].started - round.stopped_at);
        EXPECT_LE(after, kAtOnce) << id << " was cut off";
        longest_pause_ = std::max(longest_pause_, after);
        ++began_elsewhere;
      }
    }
    EXPECT_LE(began_elsewhere, round.report.cut_off) << "what had answered ran again";
  }

  Place place_{GetParam()};
  RunBook book_;
  // Of stops beyond their limit, and of tasks that were cut off until they began elsewhere.
  Duration longest_overrun_ = Duration::min();
  Duration longest_pause_ = Duration::zero();
  SystemClock clock_;
  NullLog log_;
  // Makes the tables, before the nodes want them.
  embed::NamedStore store_ = embed::open_store(place_.url(), clock_, log_, 2).value();
};

// STOP-1, STOP-2
TEST_P(Leaving, HandsEverythingOverAtOnceUnderLoad) {
  const int times = is_full() ? 20 : 5;
  Engine stays = node("stays", 16);
  std::vector<Round> rounds;
  int released = 0;
  int cut_off = 0;
  for (int i = 0; i < times; ++i) {
    rounds.push_back(live_and_stop(i));
    released += rounds.back().report.released;
    cut_off += rounds.back().report.cut_off;
    // What it left waits for nobody: neither for a scan that comes late, nor for a lease.
    EXPECT_TRUE(eventually([&] { return is_drained(stays, "work"); }, kAtOnce));
  }
  stays.stop(5s);

  EXPECT_GT(released, 0) << "nothing waited in a node that stopped: the test says nothing";
  EXPECT_GT(cut_off, 0) << "nothing ran past a limit: the test says nothing";
  for (const std::string& id : book_.acknowledged()) {
    EXPECT_EQ(stays.find(id).value().state, "succeeded") << id;
  }
  for (const Round& round : rounds) expect_goes_on_at_once(round);
  RecordProperty("acknowledged", static_cast<int>(book_.acknowledged().size()));
  RecordProperty("released", released);
  RecordProperty("cut_off", cut_off);
  RecordProperty("longest_overrun_ms", static_cast<int>(longest_overrun_ / 1ms));
  RecordProperty("longest_pause_ms", static_cast<int>(longest_pause_ / 1ms));
}

INSTANTIATE_TEST_SUITE_P(Servers, Leaving, ::testing::Values("Postgres", "Mariadb"),
                         [](const auto& store) { return std::string(store.param); });

}  // namespace
}  // namespace recourse::tests
