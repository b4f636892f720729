// A service with a guarded table as a process of its own, for tests that kill it: writes down when
// a row's handler begins and ends, a line at a time.
//
//   guard_node STORE DATABASE LEDGER PAID INCARNATION STEP
//
// S id incarnation   handle_exception of a row begins
// E id incarnation   it has ended
// P id               a person has ended a row
//
// PAID is a folder with a file for every row that the bank has paid. The handler of a row with a
// file `deadly-ID` there kills its process. It ends cleanly at SIGTERM.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "recourse/guard.h"
#include "tests/guard_script.h"
#include "tests/support/ledger.h"

namespace {

using namespace std::chrono_literals;
using recourse::RowId;
using recourse::tests::Ledger;
using recourse::tests::RowScript;

// On the disk, so that a kill forgets nothing of it.
class Bank {
 public:
  explicit Bank(std::filesystem::path folder) : folder_(std::move(folder)) {}
  [[nodiscard]] bool has(const std::string& name) const {
    return std::filesystem::exists(folder_ / name);
  }
  void put(const std::string& name) const { std::ofstream(folder_ / name).flush(); }

 private:
  const std::filesystem::path folder_;
};

class Bills : public recourse::Guard {
 public:
  Bills(const char* database, const Ledger& ledger, const char* paid, std::string incarnation,
        std::int64_t step)
      : Guard(options_of(database)),
        ledger_(ledger),
        bank_(paid),
        incarnation_(std::move(incarnation)),
        step_(step) {}

  bool check_status(const RowId& id) override { return bank_.has(recourse::to_string(id)); }
  bool handle_exception(const RowId& id) override {
    const std::string name = recourse::to_string(id);
    const std::int64_t number = std::get<std::int64_t>(id);
    ledger_.write(fmt::format("S {} {}\n", name, incarnation_));
    if (bank_.has("deadly-" + name)) ::kill(::getpid(), SIGKILL);
    std::this_thread::sleep_for(recourse::tests::is_slow(number, step_) ? 4500ms
                                                                        : number % 30 * 1ms);
    const RowScript script = recourse::tests::script_of(number, step_);
    const bool is_paid = script == RowScript::kHealsAtOnce ||
                         (script == RowScript::kHealsSecondTime && bank_.has("tried-" + name));
    bank_.put((is_paid ? "" : "tried-") + name);
    ledger_.write(fmt::format("E {} {}\n", name, incarnation_));
    return is_paid;
  }
  [[nodiscard]] std::string manual_success_route() const override { return ""; }

  // One person for each process.
  void look_after_people() {
    const auto rows = list({.err_statuses = {4001}, .limit = 2'000});
    if (!rows) return;
    for (const recourse::RowColumns& row : *rows) {
      const auto id = std::get<std::int64_t>(row.front().second);
      if (recourse::tests::script_of(id, step_) != RowScript::kHealedByPerson) continue;
      if (manual_success(id)) ledger_.write(fmt::format("P {}\n", id));
    }
  }

 private:
  static recourse::GuardOptions options_of(const char* database) {
    recourse::GuardOptions options{.database = database,
                                   .table = "user_bill",
                                   .status_field = "status",
                                   .success_value = "SUCCESS",
                                   .fail_value = "FAIL",
                                   .min_interval = 1s,
                                   .timeout_window = 3600s,
                                   .max_retries = 1,
                                   .remind_every = 3600s,
                                   .scan_every = 500ms,
                                   .attempt_timeout = 1s};
    options.kind.concurrency = 16;
    // Rows are meant to fail here.
    options.kind.breaker = false;
    return options;
  }

  const Ledger& ledger_;
  const Bank bank_;
  const std::string incarnation_;
  const std::int64_t step_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    fmt::print(stderr, "guard_node STORE DATABASE LEDGER PAID INCARNATION STEP\n");
    return 2;
  }
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  // Before any thread: they inherit it.
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  const Ledger ledger(argv[3]);
  auto engine = recourse::Engine::open({.store = argv[1],
                                        .lease_ttl = 2s,
                                        .renew_ahead = 500ms,
                                        .scan_period = 200ms,
                                        .log = [](std::string_view level, std::string_view line) {
                                          if (level == "error" &&
                                              line.find("needs_person") == std::string_view::npos) {
                                            fmt::print(stderr, "guard_node: {}\n", line);
                                          }
                                        }});
  if (!engine) {
    fmt::print(stderr, "guard_node: {}\n", engine.error().message);
    return 1;
  }
  auto bills = recourse::Guards::on(*engine).value().add(
      std::make_shared<Bills>(argv[2], ledger, argv[4], argv[5], std::atoll(argv[6])));
  if (const auto started = engine->start(); !started) {
    fmt::print(stderr, "guard_node: {}\n", started.error().message);
    return 1;
  }
  const timespec pause{.tv_sec = 0, .tv_nsec = 200'000'000};
  while (sigtimedwait(&ends, nullptr, &pause) != SIGTERM) bills->look_after_people();
  engine->stop(10s);
  return 0;
}
