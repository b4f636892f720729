// A consumer as a process of its own, for a test that kills it: takes messages from a broker, hands
// them to its engine over SQLite, and writes down what the handler does, a line at a time.
//
//   message_node STORE LEDGER URL TOPIC GROUP NUMBER
//
// S id n t   an attempt on the message begins, in the process with that number
// F id n t   it failed
// G id n t   it failed for the last time
// E id n t   it is done: the effect; t in microseconds since the machine started
//
// A body that begins with `once` fails at the first attempt, one that begins with `never` at all.
#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

#include "message/open_source.h"
#include "store/sqlite/sqlite_store.h"
#include "tests/message_door.h"
#include "tests/support/ledger.h"

namespace {

using namespace std::chrono_literals;
using namespace recourse;

std::atomic<bool> asked_to_stop = false;

message::SourceSettings settings_of(char** arguments) {
  message::SourceSettings settings{
      .name = "shop", .url = arguments[3], .topic = arguments[4], .group = arguments[5]};
  settings.consumer = "node";
  settings.prefetch = 200;
  // Less than a real Kafka takes, and more than the mock cluster lets a group wait for its members.
  settings.heartbeat = settings.url.starts_with("kafka") ? 4s : 2s;
  settings.reconnect_max = 200ms;
  settings.redis.claim_after = 1s;
  return settings;
}

engine::AttemptResult work(const task::Task& task, const tests::Ledger& ledger,
                           const std::string& number) {
  const std::string& id = task.spec.search_keys.at("message_id");
  const auto write = [&](const char* what) {
    const SystemClock clock;
    ledger.write(fmt::format("{} {} {} {}\n", what, id, number,
                             clock.since_boot().time_since_epoch().count()));
  };
  write("S");
  std::this_thread::sleep_for(500us);
  const bool fails = task.spec.payload.starts_with("never") ||
                     (task.spec.payload.starts_with("once") && task.retries == 0);
  write(!fails ? "E" : task.retries < task.spec.max_retries ? "F" : "G");
  if (fails) return engine::Failed{policy::Declined{"connection refused"}};
  return engine::Succeeded{};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    fmt::print(stderr, "message_node STORE LEDGER URL TOPIC GROUP NUMBER\n");
    return 2;
  }
  std::signal(SIGTERM, [](int) { asked_to_stop = true; });
  const tests::Ledger ledger(argv[2]);
  const std::string number = argv[6];
  const SystemClock clock;
  NullLog log;
  auto opened = store::sqlite::open(argv[1], clock);
  auto source = message::open_source(settings_of(argv), log);
  if (!opened || !source) {
    fmt::print(stderr, "message_node: {}\n",
               opened ? source.error().message : opened.error().message);
    return 1;
  }
  tests::MessageDoor door(*std::move(opened), log);
  door.handle(tests::MessageDoor::handler_of(
      [&](const task::Task& task) { return work(task, ledger, number); }));
  message::HandOverSettings settings = tests::message_settings();
  settings.group = argv[5];
  door.feed(*std::move(source), door.deal(settings));
  while (!asked_to_stop) std::this_thread::sleep_for(10ms);
  door.stop();
  return 0;
}
