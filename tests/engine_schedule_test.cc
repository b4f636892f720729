// Schedules as a user has them, through the public headers alone, on every store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <map>
#include <mutex>
#include <string>

#include "recourse/json.h"
#include "tests/engine_fixture.h"

namespace recourse::tests {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

// What ran, from whichever thread and engine.
class SeenRuns {
 public:
  Handler handler() {
    return [this](const Attempt& attempt) {
      const std::lock_guard lock(mutex_);
      ++ids_[attempt.id()];
      ++occurrences_[attempt.headers().at("Recourse-Occurrence")];
      tasks_[attempt.headers().at("Recourse-Occurrence")] = attempt.id();
      return done();
    };
  }
  // How often each was run.
  [[nodiscard]] std::map<std::string, int> ids() const {
    const std::lock_guard lock(mutex_);
    return ids_;
  }
  [[nodiscard]] std::map<std::string, int> occurrences() const {
    const std::lock_guard lock(mutex_);
    return occurrences_;
  }
  // Their ids by occurrence.
  [[nodiscard]] std::map<std::string, std::string> tasks() const {
    const std::lock_guard lock(mutex_);
    return tasks_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, int> ids_;
  std::map<std::string, int> occurrences_;
  std::map<std::string, std::string> tasks_;
};

// As the header writes it: sorts by time.
std::string text_of(TimePoint moment) {
  const std::time_t seconds =
      std::chrono::floor<std::chrono::seconds>(moment).time_since_epoch().count();
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%FT%TZ", &utc);
  return text.data();
}

// Comes once a day, and not while the test runs.
std::string half_a_day_away() {
  const auto now = std::chrono::system_clock::now();
  const auto today = now - std::chrono::floor<std::chrono::days>(now);
  const auto hour = std::chrono::floor<std::chrono::hours>(today).count();
  return "0 " + std::to_string((hour + 12) % 24) + " * * *";
}

MATCHER(RanOnce, "") { return arg.second == 1; }

struct Report {
  std::string of;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Report, of)

TEST_P(EngineOnStore, AScheduledTaskRunsAtEachOfItsTimes) {
  SeenRuns seen;
  engine_.handle_bytes("report", seen.handler());
  engine_.schedule({.name = "reports", .when = "every 1s", .kind = "report"});
  ASSERT_TRUE(engine_.start());

  ASSERT_TRUE(eventually([&] { return seen.ids().size() >= 3; }));
  engine_.stop();

  EXPECT_THAT(seen.ids(), Each(RanOnce()));
  EXPECT_THAT(seen.occurrences(), Each(RanOnce()));
  EXPECT_EQ(seen.ids().size(), seen.occurrences().size());
  for (const auto& [occurrence, id] : seen.tasks()) {
    const TaskView task = engine_.find(id).value();
    EXPECT_EQ(task.state, "succeeded");
    // Not early, by the store's clock.
    EXPECT_GE(text_of(task.created_at), occurrence);
  }
}

TEST_P(EngineOnStore, ATypedScheduleCatchesUpWithTheLatestOccurrenceAndNoMore) {
  std::atomic<int> runs = 0;
  std::string of;
  engine_.handle<Report>("report", [&](const Attempt&, const Report& report) {
    of = report.of;
    return ++runs, done();
  });
  engine_.schedule(
      {.name = "reports", .when = half_a_day_away(), .kind = "report", .catch_up = 24h},
      Report{"sales"});
  ASSERT_TRUE(engine_.start());

  ASSERT_TRUE(eventually([&] { return runs > 0; }));
  engine_.stop();

  EXPECT_EQ(runs, 1);
  EXPECT_EQ(of, "sales");
}

TEST_P(EngineOnStore, AUniqueKeySkipsWhatComesWhileTheFormerRuns) {
  std::atomic<int> runs = 0;
  std::atomic<bool> release = false;
  engine_.handle_bytes("report", [&](const Attempt&) {
    ++runs;
    while (!release) std::this_thread::sleep_for(5ms);
    return done();
  });
  SeenRuns others;
  engine_.handle_bytes("other", others.handler());
  engine_.schedule({.name = "reports",
                    .when = "every 1s",
                    .kind = "report",
                    .options = {.unique_key = "report"}});
  engine_.schedule({.name = "others", .when = "every 1s", .kind = "other"});
  ASSERT_TRUE(engine_.start());

  ASSERT_TRUE(eventually([&] { return others.ids().size() >= 2; }));
  EXPECT_EQ(runs, 1);
  release = true;

  EXPECT_TRUE(eventually([&] { return runs >= 2; }));
  engine_.stop();
}

INSTANTIATE_TEST_SUITE_P(Schedule, EngineOnStore,
                         ::testing::Values("Memory", "Sqlite", "Postgres", "Mariadb"),
                         [](const auto& one) { return std::string(one.param); });

// On a database that processes can share.
class NodesWithOneSchedule : public ::testing::TestWithParam<const char*> {
 protected:
  NodesWithOneSchedule() : place_(GetParam()) {}

  Engine open(SeenRuns& seen, const Schedule& schedule) {
    Engine engine = Engine::open({.store = place_.url(), .scan_period = 200ms}).value();
    engine.handle_bytes("report", seen.handler());
    engine.schedule(schedule);
    return engine;
  }

  Place place_;
};

TEST_P(NodesWithOneSchedule, RunEachOccurrenceOnce) {
  const Schedule schedule{.name = "reports", .when = "every 1s", .kind = "report"};
  SeenRuns seen;
  Engine first = open(seen, schedule);
  Engine second = open(seen, schedule);
  ASSERT_TRUE(first.start());
  ASSERT_TRUE(second.start());

  ASSERT_TRUE(eventually([&] { return seen.occurrences().size() >= 5; }, 20s));
  // Also when one of them goes, and comes back.
  first.stop();
  const std::size_t before = seen.occurrences().size();
  ASSERT_TRUE(eventually([&] { return seen.occurrences().size() >= before + 2; }, 20s));
  Engine third = open(seen, schedule);
  ASSERT_TRUE(third.start());
  ASSERT_TRUE(eventually([&] { return seen.occurrences().size() >= before + 4; }, 20s));
  second.stop();
  third.stop();

  EXPECT_THAT(seen.occurrences(), Each(RanOnce()));
  EXPECT_EQ(seen.ids().size(), seen.occurrences().size());
}

// What is finished is known from the archive: a node that starts later does not run it again.
TEST_P(NodesWithOneSchedule, CatchUpOnceBetweenThem) {
  const Schedule schedule{
      .name = "reports", .when = half_a_day_away(), .kind = "report", .catch_up = 24h};
  SeenRuns seen;
  Engine first = open(seen, schedule);
  ASSERT_TRUE(first.start());
  ASSERT_TRUE(eventually([&] { return seen.ids().size() == 1; }));
  ASSERT_TRUE(eventually(
      [&] { return first.find(seen.ids().begin()->first).value().state == "succeeded"; }));

  Engine second = open(seen, schedule);
  second.schedule({.name = "later", .when = "every 1s", .kind = "report"});
  ASSERT_TRUE(second.start());

  // Inserted after the other one, in the same order.
  ASSERT_TRUE(eventually([&] { return seen.ids().size() >= 3; }));
  EXPECT_THAT(seen.ids(), Each(RanOnce()));
}

INSTANTIATE_TEST_SUITE_P(Shared, NodesWithOneSchedule, ::testing::Values("Postgres", "Mariadb"),
                         [](const auto& one) { return std::string(one.param); });

class ScheduleRefusal : public ::testing::Test {
 protected:
  std::string refusal(const Schedule& schedule) {
    Engine engine = Engine::open({.store = "memory:"}).value();
    engine.handle_bytes("report", [](const Attempt&) { return done(); });
    engine.schedule({.name = "taken", .when = "@hourly", .kind = "report"});
    engine.schedule(schedule);
    const auto started = engine.start();
    EXPECT_FALSE(started);
    return started ? "" : started.error().message;
  }
};

TEST_F(ScheduleRefusal, IsToldByStart) {
  EXPECT_THAT(refusal({.name = "reports", .when = "61 * * * *", .kind = "report"}),
              ::testing::AllOf(HasSubstr("\"reports\""), HasSubstr("minute"), HasSubstr("61"),
                               HasSubstr("0 to 59")));
  EXPECT_THAT(refusal({.name = "reports", .when = "0 0 30 feb *", .kind = "report"}),
              HasSubstr("no year has such a day"));
  EXPECT_THAT(refusal({.name = "taken", .when = "@daily", .kind = "report"}), HasSubstr("already"));
  EXPECT_THAT(refusal({.name = "", .when = "@daily", .kind = "report"}), HasSubstr("name"));
  EXPECT_THAT(refusal({.name = "reports", .when = "@daily", .kind = ""}), HasSubstr("kind"));
  EXPECT_THAT(
      refusal({.name = "reports", .when = "@daily", .kind = "report", .options = {.priority = 11}}),
      HasSubstr("priority"));
  EXPECT_THAT(refusal({.name = "reports",
                       .when = "@daily",
                       .kind = "report",
                       .options = {.backoff = "quadratic"}}),
              HasSubstr("exponential"));
  EXPECT_THAT(refusal({.name = "reports",
                       .when = "@daily",
                       .kind = "report",
                       .options = {.id = "tsk_01J00000000000000000000000"}}),
              HasSubstr("options.id must be empty"));
  EXPECT_THAT(refusal({.name = "reports",
                       .when = "@daily",
                       .kind = "report",
                       .options = {.deadline = recourse::at(TimePoint{})}}),
              HasSubstr("recourse::in"));
  EXPECT_THAT(refusal({.name = "reports", .when = "@daily", .kind = "report", .catch_up = 24h * 8}),
              HasSubstr("catch_up"));
}

}  // namespace
}  // namespace recourse::tests
