// What the message door costs a consumer: messages a second with the done-check and the marks on
// SQLite, which flushes to the disk, and a handler that does nothing, against a bare consumer that
// receives and acknowledges batches of the same size through the same adapter. Both are taken in
// turns; medians of five runs. --messages N says how many a run takes.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "bench/report.h"
#include "bench/store_line.h"
#include "message/open_source.h"
#include "recourse/messages.h"
#include "tests/support/temporary_directory.h"

namespace recourse::bench {
namespace {

using Stopwatch = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr int kRuns = 5;
constexpr std::size_t kBatch = 500;
constexpr std::size_t kPrefetch = 2'000;

NullLog no_log;

// One kind of broker.
struct Broker {
  std::string name;
  std::string url;
  // RabbitMQ has no position of its own: publishers give ids.
  bool has_publisher_ids = false;
};

message::SourceSettings settings_of(const Broker& broker, const std::string& topic) {
  message::SourceSettings settings{
      .name = "bench", .url = broker.url, .topic = topic, .group = "bench", .prefetch = kPrefetch};
  settings.rabbitmq = {.declare = true, .queue_type = message::QueueType::kClassic};
  return settings;
}

void fill(const Broker& broker, const std::string& topic, std::size_t count) {
  const auto source = must(message::open_source(settings_of(broker, topic), no_log));
  const auto soon = [] { return Stopwatch::now() + 60s; };
  must(source->connect(soon()));
  std::vector<message::Outgoing> batch;
  for (std::size_t i = 1; i <= count; ++i) {
    batch.push_back({.topic = topic,
                     .key = {},
                     .id = broker.has_publisher_ids ? fmt::format("{}-message-{}", topic, i) : "",
                     .headers = {},
                     .body = fmt::format(R"({{"order": "o-{}", "amount": 100}})", i)});
    if (batch.size() < 1'000 && i < count) continue;
    must(source->publish(batch, soon()));
    batch.clear();
  }
  (void)must(source->close(soon()));
}

double rate(std::size_t count, Stopwatch::time_point from) {
  return static_cast<double>(count) /
         std::chrono::duration<double>(Stopwatch::now() - from).count();
}

// Messages a second of one that only receives and acknowledges.
double bare(const Broker& broker, const std::string& topic, std::size_t count) {
  const auto source = must(message::open_source(settings_of(broker, topic), no_log));
  must(source->connect(Stopwatch::now() + 10s));
  std::size_t left = count;
  Stopwatch::time_point from;
  while (left > 0) {
    const auto batch = must(source->receive(kBatch, Stopwatch::now() + 10s));
    if (left == count) from = Stopwatch::now();
    std::vector<message::Verdict> verdicts;
    for (const message::Message& one : batch) {
      verdicts.push_back({one.ticket, message::Fate::kDone});
    }
    left -= must(source->settle(verdicts, Stopwatch::now() + 10s)).accepted;
  }
  const double measured = rate(count, from);
  (void)must(source->close(Stopwatch::now() + 10s));
  return measured;
}

// Messages a second through the door.
double ours(const Broker& broker, const std::string& topic, std::size_t count) {
  const tests::TemporaryDirectory folder;
  Engine engine = must(
      Engine::open({.store = "sqlite:" + (folder.path() / "bench.db").string(), .node = "bench"}));
  Messages messages = must(Messages::on(engine));
  std::atomic<bool> has_begun = false;
  Stopwatch::time_point from;
  messages.handle_bytes("bench", [&](const MessageContext&) {
    if (!has_begun.load(std::memory_order_relaxed)) {
      from = Stopwatch::now();
      has_begun = true;
    }
    return std::string();
  });
  messages.from({.name = "bench",
                 .url = broker.url,
                 .topic = topic,
                 .group = "bench",
                 .prefetch = kPrefetch,
                 .batch = kBatch,
                 .declare_queue = true,
                 .quorum_queue = false});
  must(engine.start());
  while (messages.sources().front().acknowledged < count) std::this_thread::sleep_for(1ms);
  const double measured = rate(count, from);
  engine.stop(5s);
  return measured;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

struct Runs {
  Broker broker;
  std::vector<double> ours = {};
  std::vector<double> bare = {};
};

void run_once(Runs& runs, int number, std::size_t count) {
  const auto topic = [&](const char* side) {
    return fmt::format("bench.{}.{}.{}", ::getpid(), side, number);
  };
  fill(runs.broker, topic("bare"), count);
  runs.bare.push_back(bare(runs.broker, topic("bare"), count));
  fill(runs.broker, topic("ours"), count);
  runs.ours.push_back(ours(runs.broker, topic("ours"), count));
}

std::string url_of(const char* variable) {
  const char* const url = std::getenv(variable);
  if (url == nullptr) give_up(fmt::format("{} has no URL: use ./dev bench message", variable));
  return url;
}

std::size_t count_of(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--messages") {
    return static_cast<std::size_t>(std::clamp(std::atoi(argv[2]), 1'000, 10'000'000));
  }
  if (argc != 1) give_up("it takes --json, and --messages N, 1000 to 10000000");
  return 30'000;
}

int run(int argc, char** argv) {
  const Format format = take_format(argc, argv);
  const std::size_t count = count_of(argc, argv);
  std::vector<Runs> all{{.broker = {.name = "RabbitMQ",
                                    .url = url_of("RECOURSE_TEST_RABBITMQ"),
                                    .has_publisher_ids = true}},
                        {.broker = {.name = "Redis", .url = url_of("RECOURSE_TEST_REDIS")}}};
  for (int number = 1; number <= kRuns; ++number) {
    for (Runs& runs : all) run_once(runs, number, count);
  }
  std::vector<Figure> figures;
  for (const Runs& runs : all) {
    const double ratio = median(runs.ours) / median(runs.bare);
    figures.push_back({.bench = "message",
                       .name = runs.broker.name + ", done-check and marks on SQLite",
                       .value = median(runs.ours),
                       .unit = "messages/s",
                       .comparison = Comparison{"a bare consumer", ratio},
                       .goal = "0.7 of a bare consumer",
                       .met = ratio >= 0.7});
  }
  print(figures, format);
  return 0;
}

}  // namespace
}  // namespace recourse::bench

int main(int argc, char** argv) { return recourse::bench::run(argc, argv); }
