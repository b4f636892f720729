// An order service as a process of its own, for a test that kills it: records failures as fast as
// it can, and writes down what it was told is safe, a line at a time.
//
//   degrade_node STORE SPOOL LEDGER dead|well
//
// R id   a failure was recorded; only while the points service is dead
// G id   points were granted
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "recourse/degrade.h"
#include "tests/support/ledger.h"

namespace {

using namespace std::chrono_literals;

using recourse::tests::Ledger;

template <class T>
T must(recourse::Result<T> result) {
  if (result) return *std::move(result);
  fmt::print(stderr, "degrade_node: {}\n", result.error().message);
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "degrade_node STORE SPOOL LEDGER dead|well\n");
    return 2;
  }
  const Ledger ledger(argv[3]);
  const bool is_well = std::string_view(argv[4]) == "well";
  auto engine = must(recourse::Engine::open({.store = argv[1],
                                             .lease_ttl = 2s,
                                             .renew_ahead = 500ms,
                                             .log = [](std::string_view, std::string_view) {}}));
  auto degrade = must(recourse::Degrade::on(
      engine, {.first_retry_after = is_well ? recourse::Duration(0) : recourse::Duration(1s),
               .spool = argv[2],
               .store_patience = 100ms}));
  degrade.handle_bytes("grant-points", [&](const recourse::Attempt& attempt) {
    if (is_well) ledger.write(fmt::format("G {}\n", attempt.id()));
    return is_well ? recourse::done() : recourse::snooze(1s);
  });
  if (const auto started = engine.start(); !started) {
    fmt::print(stderr, "degrade_node: {}\n", started.error().message);
    return 1;
  }
  while (true) {
    std::this_thread::sleep_for(2ms);
    if (is_well) continue;
    const auto id = degrade.record_failure("grant-points", "10", {.member = "m-1"}, "it is dead");
    if (id) ledger.write(fmt::format("R {}\n", *id));
  }
}
