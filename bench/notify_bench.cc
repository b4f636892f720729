// ./dev bench notify: what telling people costs the engine, on SQLite.
//
// Threads submit tasks that succeed, as many as the engine takes, while dead letters come at 10,000
// a minute. One side has notifications switched off; the other has two channels, of which one
// hangs and one answers 500. The sides take turns; the medians are compared. --seconds N says how
// long a run takes (60: as many dead letters as the issue asks for).
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <fstream>
#include <random>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/ulid_source.h"
#include "bench/report.h"
#include "bench/store_line.h"
#include "embed/open_store.h"
#include "embed/telling.h"
#include "engine/node.h"
#include "http/client.h"
#include "http/test_server.h"
#include "notify/channels/webhook_channel.h"
#include "notify/delivery_log.h"
#include "notify/notifier.h"
#include "tests/support/temporary_directory.h"

namespace recourse::bench {
namespace {

using namespace std::chrono_literals;
using Stopwatch = std::chrono::steady_clock;

constexpr int kRuns = 5;
constexpr int kSubmitters = 8;
constexpr int kSubmitsAtOnce = 50;
constexpr int kMourners = 4;
constexpr auto kBetweenDeadLetters = kMourners * 6ms;  // of each: 10,000 a minute

struct Side {
  double rate = 0;
  std::int64_t dead = 0;
  notify::NotifierCounts counts = {};
};

// Counts down; its submitter waits for all of them.
class Answers final : public engine::SubmitWaiter {
 public:
  explicit Answers(int count) : left_(count) {}
  void answered(const engine::SubmitAnswer& answer) override {
    if (!answer.result) give_up(answer.result.error().message);
    // Told under the lock: whoever waits may be gone with this as soon as it is free.
    const MutexLock lock(mutex_);
    if (--left_ == 0) changed_.notify_all();
  }
  void wait() {
    const MutexLock lock(mutex_);
    while (left_ > 0) changed_.wait(mutex_);
  }

 private:
  Mutex mutex_;
  ConditionVariable changed_;
  int left_ GUARDED_BY(mutex_);
};

class Engine {
 public:
  // Notifications are switched off where there are no channels.
  explicit Engine(const std::vector<std::string>& urls) {
    store_ =
        must(embed::open_store("sqlite:" + (folder_.path() / "r.db").string(), clock_, log_, 8));
    client_ = must(http::Client::open({}));
    node_.emplace(*store_.opened, clock_, log_, settings(), 1);
    must(node_->handle("work", {}, [](const std::shared_ptr<engine::AttemptRun>& run) {
      run->complete(engine::Succeeded{});
    }));
    must(node_->handle("doomed", {}, [](const std::shared_ptr<engine::AttemptRun>& run) {
      run->complete(engine::Decided{
          policy::dead_letter(policy::Category::kBiz4xx, "DEAD_LETTER", "nobody wants it")});
    }));
    if (!urls.empty()) tell_people(urls);
    node_->listen([this](const engine::Happening& happening) {
      if (telling_) telling_->happened(happening);
      const auto* moved = std::get_if<engine::Moved>(&happening);
      if (moved == nullptr) return;
      if (moved->to == task::State::kSucceeded) ++succeeded_;
      if (moved->to == task::State::kDead) ++dead_;
    });
    must(node_->start());
    if (telling_) telling_->begin();
  }

  Side run(Duration time) {
    std::vector<std::jthread> crew;
    for (int i = 0; i < kSubmitters; ++i) {
      crew.emplace_back([this](const std::stop_token& stop) {
        while (!stop.stop_requested()) submit("work", kSubmitsAtOnce);
      });
    }
    for (int i = 0; i < kMourners; ++i) {
      crew.emplace_back([this](const std::stop_token& stop) {
        auto next = Stopwatch::now();
        while (!stop.stop_requested()) {
          std::this_thread::sleep_until(next += kBetweenDeadLetters);
          submit("doomed", 1);
        }
      });
    }
    std::this_thread::sleep_for(time / 10);  // until it runs evenly
    const std::int64_t before = succeeded_;
    const auto start = Stopwatch::now();
    std::this_thread::sleep_for(time);
    const double seconds = std::chrono::duration<double>(Stopwatch::now() - start).count();
    const std::int64_t done = succeeded_ - before;
    for (std::jthread& one : crew) one.request_stop();
    crew.clear();
    (void)node_->stop(10s);
    Side side{.rate = static_cast<double>(done) / seconds, .dead = dead_};
    if (!telling_) return side;
    telling_->stop(1s);
    deliveries_->stop(1s);
    side.counts = telling_->notifier().counts();
    return side;
  }

 private:
  static engine::NodeSettings settings() {
    engine::NodeSettings settings;
    settings.name = "bench";
    return settings;
  }
  // Everything goes to every channel.
  void tell_people(const std::vector<std::string>& urls) {
    notify::NotifierSettings settings;
    settings.router.defaults.clear();
    notify::NotifierParts parts;
    for (const std::string& url : urls) {
      parts.channels.push_back(
          must(notify::make_webhook_channel(url, {.endpoint = {.url = url}}, *client_, clock_)));
      settings.router.defaults.push_back(url);
    }
    deliveries_.emplace(store_.opened->records(), ids_, clock_, log_, notify::DeliveryLogSettings{},
                        "bench");
    parts.on_delivery = [this](const notify::Delivery& delivery) { deliveries_->add(delivery); };
    auto notifier =
        must(notify::Notifier::make(std::move(settings), std::move(parts), clock_, log_));
    telling_.emplace(
        embed::Telling::Parts{
            .cases = store_.opened->cases(), .ids = ids_, .clock = clock_, .log = log_},
        std::move(notifier), notify::TellerSettings{});
  }
  void submit(const char* kind, int count) {
    Answers answers(count);
    for (int i = 0; i < count; ++i) {
      store::Submission submission;
      submission.id = task::TaskId(ids_.next());
      submission.spec.kind = task::Kind(kind);
      submission.spec.payload = "{}";
      node_->submit(std::move(submission), store::Novelty::kFresh, answers);
    }
    answers.wait();
  }

  tests::TemporaryDirectory folder_;
  SystemClock clock_;
  NullLog log_;
  UlidSource ids_{clock_, std::random_device()()};
  embed::NamedStore store_;
  std::unique_ptr<http::Client> client_;
  std::optional<notify::DeliveryLog> deliveries_;
  std::optional<embed::Telling> telling_;
  std::atomic<std::int64_t> succeeded_ = 0;
  std::atomic<std::int64_t> dead_ = 0;
  std::optional<engine::Node> node_;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

double memory_mib() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages >> pages;
  return pages * 4096 / (1024 * 1024);
}

int seconds_of(int argc, char** argv) {
  int seconds = 10;
  if (argc == 1) return seconds;
  const std::string_view number = argc == 3 ? argv[2] : "";
  const auto [end, error] = std::from_chars(number.begin(), number.end(), seconds);
  if (std::string_view(argv[1]) != "--seconds" || error != std::errc() || end != number.end() ||
      seconds < 1 || seconds > 600) {
    give_up("it takes --json, and --seconds N, 1 to 600");
  }
  return seconds;
}

int run(int argc, char** argv) {
  const Format format = take_format(argc, argv);
  const Duration time = std::chrono::seconds(seconds_of(argc, argv));
  http::TestServer hanging([](const auto&) { return http::TestServer::silence(); });
  http::TestServer broken(
      [](const auto&) { return http::TestServer::Reply{.bytes = http::TestServer::answer(500)}; });
  std::vector<double> without;
  std::vector<double> with;
  std::int64_t dead = 0;
  bool adds_up = true;
  for (int i = 0; i < kRuns; ++i) {
    without.push_back(Engine({}).run(time).rate);
    const Side side = Engine({hanging.url("/hook"), broken.url("/hook")}).run(time);
    with.push_back(side.rate);
    dead += side.dead;
    const auto& counts = side.counts;
    adds_up &= counts.out == 0 && counts.routed == counts.sent + counts.failed + counts.suppressed;
  }
  const double ratio = median(with) / median(without);
  print({{.bench = "notify",
          .name = "tasks beside dead letters",
          .value = median(with),
          .unit = "tasks/s",
          .comparison = Comparison{"notifications off", ratio},
          .goal = "0.9 of notifications off",
          .met = ratio >= 0.9},
         {.bench = "notify",
          .name = "dead letters, all counted",
          .value = static_cast<double>(dead) / kRuns,
          .unit = "a run",
          .comparison = std::nullopt,
          .goal = "routed = sent + failed + suppressed",
          .met = adds_up},
         {.bench = "notify",
          .name = "memory after it all",
          .value = memory_mib(),
          .unit = "MiB",
          .comparison = std::nullopt,
          .goal = ""}},
        format);
  return 0;
}

}  // namespace
}  // namespace recourse::bench

int main(int argc, char** argv) { return recourse::bench::run(argc, argv); }
