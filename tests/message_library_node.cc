// A consumer made of the library, as a process of its own, for a test that kills it. What it writes
// down is what message_node.cc writes.
//
//   message_library_node inline|transaction STORE LEDGER URL TOPIC GROUP NUMBER
//
// With `transaction` the effect is a row of the table `effect`, beside the mark.
#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <string>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "recourse/messages.h"
#include "tests/support/ledger.h"

namespace {

using namespace std::chrono_literals;
using namespace recourse;

std::atomic<bool> asked_to_stop = false;

class Work {
 public:
  Work(const char* ledger, std::string number) : ledger_(ledger), number_(std::move(number)) {}

  template <class Effect>
  Result<std::string> operator()(const MessageContext& message, const Effect& effect) const {
    write("S", message);
    std::this_thread::sleep_for(200us);
    const bool fails = message.body().starts_with("never") ||
                       (message.body().starts_with("once") && message.attempt() == 1);
    if (fails) {
      write(message.attempt() > message.max_retries() ? "G" : "F", message);
      return fail(ErrorCode::kUnavailable, "connection refused");
    }
    if (Result<> done = effect(); !done) return fail(done.error());
    write("E", message);
    return message.id();
  }

 private:
  void write(const char* what, const MessageContext& message) const {
    ledger_.write(fmt::format("{} {} {} {}\n", what, message.id(), number_,
                              SystemClock().since_boot().time_since_epoch().count()));
  }

  tests::Ledger ledger_;
  std::string number_;
};

SourceOptions source_of(char** arguments) {
  const std::string url = arguments[4];
  return {.name = "shop",
          .url = url,
          .topic = arguments[5],
          .group = arguments[6],
          .prefetch = 200,
          .batch = 100,
          // As message_node.cc has it.
          .heartbeat = url.starts_with("kafka") ? 4s : 2s,
          .reconnect_max = 200ms,
          .claim_after = 1s};
}

void handle(Messages& messages, bool in_transaction, const std::string& group, const Work& work) {
  const GroupOptions options{.base_delay = 50ms, .concurrency = 16, .breaker = false};
  if (in_transaction) {
    messages.handle_bytes_in_transaction(
        group,
        [&work](CreateTransaction& own, const MessageContext& message) {
          return work(message, [&]() -> Result<> {
            const auto written =
                own.execute("INSERT INTO effect (message) VALUES (?)", {message.id()});
            return written ? Result<>() : fail(written.error());
          });
        },
        options);
    return;
  }
  messages.handle_bytes(
      group,
      [&work](const MessageContext& message) { return work(message, [] { return Result<>(); }); },
      options);
}

Result<> run(char** arguments) {
  const Work work(arguments[3], arguments[7]);
  auto engine = Engine::open({.store = std::string("sqlite:") + arguments[2],
                              .node = "node",
                              .scan_period = 200ms,
                              .log = [](std::string_view, std::string_view) {}});
  if (!engine) return fail(engine.error());
  auto messages = Messages::on(*engine);
  if (!messages) return fail(messages.error());
  handle(*messages, std::string_view(arguments[1]) == "transaction", arguments[6], work);
  messages->from(source_of(arguments));
  if (Result<> started = engine->start(); !started) return started;
  while (!asked_to_stop) std::this_thread::sleep_for(10ms);
  engine->stop(5s);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) {
    fmt::print(stderr,
               "message_library_node inline|transaction STORE LEDGER URL TOPIC GROUP NUMBER\n");
    return 2;
  }
  std::signal(SIGTERM, [](int) { asked_to_stop = true; });
  const Result<> ran = run(argv);
  if (!ran) fmt::print(stderr, "message_library_node: {}\n", ran.error().message);
  return ran ? 0 : 1;
}
