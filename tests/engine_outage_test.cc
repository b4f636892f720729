// The database server is killed under load and comes back later, while two nodes submit and run.
//
// Only servers: a SQLite database is a file that this process has open, and cannot go away alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "recourse/engine.h"
#include "tests/engine_fixture.h"
#include "tests/engine_load_support.h"
#include "tests/support/full_form.h"
#include "tests/support/private_server.h"

namespace recourse::tests {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

// Longer than a lease: both nodes stop starting things meanwhile, and neither may take the other
// for dead when the server is back.
constexpr Duration kOutageTtl = 4s;
constexpr Duration kStoreTimeout = 1s;
constexpr Duration kBackWithin = 5s;

class Outage : public ::testing::TestWithParam<ServerKind> {
 protected:
  void add_node(const std::string& name) {
    engines_.push_back(Engine::open({.store = server_.url(),
                                     .node = name,
                                     .lease_ttl = kOutageTtl,
                                     .renew_ahead = 1s,
                                     .scan_period = 500ms,
                                     .store_timeout = kStoreTimeout,
                                     .log = [](std::string_view, std::string_view) {}})
                           .value());
    engines_.back().handle_bytes("work",
                                 [this, name](const Attempt& attempt) {
                                   book_.begin(attempt, name);
                                   std::this_thread::sleep_for(5ms);
                                   if (is_back_) note_first(first_run_);
                                   book_.end(attempt);
                                   return done();
                                 },
                                 {.concurrency = 8});
    ASSERT_TRUE(engines_.back().start());
  }

  // As fast as it is answered, but for a breath: the backlog must be gone soon after.
  void submit_until_stopped(Engine& engine) {
    while (!enough_) {
      const auto answer = engine.submit_bytes("work", "{}");
      book_.answered(answer);
      if (answer && is_back_) note_first(first_answer_);
      std::this_thread::sleep_for(5ms);
    }
  }

  // What was not acknowledged has been refused plainly, or is in doubt under a known id; answers
  // how often the latter.
  int expect_told_what_to_do() {
    int in_doubt = 0;
    for (const Error& error : book_.refusals()) {
      if (error.code == ErrorCode::kInDoubt) {
        ++in_doubt;
        EXPECT_THAT(error.message, HasSubstr("tsk_"));
      } else {
        EXPECT_THAT(error.code, AnyOf(ErrorCode::kUnavailable, ErrorCode::kExhausted))
            << error.message;
        EXPECT_FALSE(error.message.empty());
      }
    }
    return in_doubt;
  }

  void note_first(std::optional<Duration>& what) {
    const std::lock_guard lock(mutex_);
    if (!what) what = since(back_at_);
  }

  PrivateServer server_{GetParam()};
  RunBook book_;
  std::atomic<bool> enough_ = false;
  std::atomic<bool> is_back_ = false;
  std::mutex mutex_;
  Stopwatch::time_point back_at_;
  std::optional<Duration> first_answer_;
  std::optional<Duration> first_run_;
  std::deque<Engine> engines_;
};

// I1, I5: what was acknowledged is run, and what has answered is not run again: the node keeps its
// outcome and offers it until the store has it.
TEST_P(Outage, LosesNothingRunsNothingTwiceAndGoesOn) {
  add_node("one");
  add_node("two");
  {
    std::vector<std::jthread> crowd;
    for (Engine& engine : engines_) {
      for (int i = 0; i < 4; ++i) crowd.emplace_back([&] { submit_until_stopped(engine); });
    }
    std::this_thread::sleep_for(1s);
    server_.kill();
    std::this_thread::sleep_for(is_full() ? Duration(2min) : Duration(5s));
    server_.start();
    back_at_ = Stopwatch::now();
    is_back_ = true;
    std::this_thread::sleep_for(1s);
    EXPECT_TRUE(eventually([&] {
      const std::lock_guard lock(mutex_);
      return first_answer_ && first_run_;
    }));
    enough_ = true;
  }
  EXPECT_TRUE(eventually([&] { return is_drained(engines_.front(), "work"); }, 20s));
  for (Engine& engine : engines_) engine.stop(5s);

  EXPECT_LE(first_answer_.value_or(Duration::max()), kBackWithin);
  EXPECT_LE(first_run_.value_or(Duration::max()), kBackWithin);
  EXPECT_GT(book_.acknowledged().size(), 200U);
  for (const std::string& id : book_.acknowledged()) {
    EXPECT_EQ(engines_.front().find(id).value().state, "succeeded") << id;
  }
  for (const auto& [id, runs] : book_.runs()) EXPECT_EQ(runs.size(), 1U) << id << " ran again";
  const int in_doubt = expect_told_what_to_do();
  EXPECT_FALSE(book_.refusals().empty()) << "nobody submitted meanwhile: the test says nothing";
  RecordProperty("acknowledged", static_cast<int>(book_.acknowledged().size()));
  RecordProperty("refused", static_cast<int>(book_.refusals().size()) - in_doubt);
  RecordProperty("in_doubt", in_doubt);
  RecordProperty("answers_again_after_ms", static_cast<int>(first_answer_.value_or(-1ms) / 1ms));
  RecordProperty("runs_again_after_ms", static_cast<int>(first_run_.value_or(-1ms) / 1ms));
}

// STOP-1: neither what it would write nor the leaving of a node waits for ever. Beyond its limit a
// stop takes as long as three calls of the store may.
TEST_P(Outage, AStopWithoutTheServerComesToAnEnd) {
  add_node("one");
  std::jthread crowd([&] { submit_until_stopped(engines_.front()); });
  std::this_thread::sleep_for(500ms);
  server_.kill();

  const auto begun = Stopwatch::now();
  engines_.front().stop(1s);
  const Duration took = since(begun);
  enough_ = true;

  EXPECT_LE(took, 1s + 3 * kStoreTimeout + 2s);
  RecordProperty("stop_took_ms", static_cast<int>(took / 1ms));
}

INSTANTIATE_TEST_SUITE_P(Servers, Outage,
                         ::testing::Values(ServerKind::kPostgres, ServerKind::kMariadb),
                         [](const auto& kind) { return name_of(kind.param); });

}  // namespace
}  // namespace recourse::tests
