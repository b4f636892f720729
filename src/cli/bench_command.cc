// bench: what a deployment does for those who use it, seen from here. Tasks of a kind of its own
// are submitted, leased and reported done, so that nobody's work is touched and nothing is left.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <vector>

#include "cli/commands.h"
#include "cli/display_text.h"
#include "cli/json_read.h"
#include "cli/load.h"

namespace recourse::cli {
namespace {

using boost::json::array;
using boost::json::object;

constexpr std::string_view kKind = "recourse-bench";
constexpr std::size_t kLot = 100;
constexpr std::size_t kRoundTrips = 200;
constexpr std::size_t kPickUps = 50;
// A worker's call must be there before the task comes.
constexpr Duration kHeadStart = std::chrono::milliseconds(10);

struct BenchFlags {
  int tasks = 2'000;
  int connections = 16;
  int payload_bytes = 1'024;
};

struct Measured {
  std::string name;
  std::string what;  // for people: which calls these were
  std::size_t per_call = 1;
  LoadResult load = {};
};

std::string spec_of(std::size_t payload_bytes) {
  // Without the quotes, which count too.
  const std::string payload(payload_bytes - 2, 'x');
  return boost::json::serialize(object{{"kind", kKind}, {"payload", payload}});
}

std::string lot_of(const std::string& spec, std::size_t tasks) {
  std::string body = R"({"tasks":[)";
  for (std::size_t i = 0; i < tasks; ++i) body += (i == 0 ? "" : ",") + spec;
  return body + "]}";
}

std::string lease_body(std::size_t limit, std::string_view wait) {
  return boost::json::serialize(object{{"worker", "recourse-bench"},
                                       {"kinds", array{kKind}},
                                       {"limit", limit},
                                       {"wait", wait},
                                       {"lease", "1h"}});
}

double milliseconds(Duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

std::string shown_time(Duration time) { return fmt::format("{:.2f} ms", milliseconds(time)); }

// One run: measures in their order; the first call that fails ends it.
class Bench {
 public:
  Bench(Session& session, const BenchFlags& flags, http::Client& client)
      : session_(session), flags_(flags), client_(client) {}

  ExitCode run() {
    const std::string spec = spec_of(static_cast<std::size_t>(flags_.payload_bytes));
    const auto tasks = static_cast<std::size_t>(flags_.tasks);
    const std::size_t lots = tasks / kLot;
    const bool done =
        take_all(kLot) && finish() &&  // what an earlier run left, cut short
        measure({"round_trip", "a round trip, one after the other"}, kRoundTrips, 1,
                get("/livez")) &&
        measure({"submit", "submits, a task each"}, tasks, connections(),
                post("/api/v1/tasks", spec)) &&
        measure({"submit_lot", fmt::format("submits, {} tasks each", kLot), kLot}, lots,
                connections(), post("/api/v1/tasks/batch", lot_of(spec, kLot))) &&
        lease(tasks + lots * kLot) && complete() && pick_up(spec) && finish() &&
        measure({"page", "pages of 50 tasks"}, kRoundTrips, connections(),
                get("/api/v1/tasks?limit=50"));
    if (!done) return session_.exit_code();
    print();
    return ExitCode::kOk;
  }

 private:
  using Make = std::function<http::Call(std::size_t)>;

  [[nodiscard]] std::size_t connections() const {
    return static_cast<std::size_t>(flags_.connections);
  }

  Make get(const std::string& path) {
    return [this, path](std::size_t) { return session_.request(http::Method::kGet, path); };
  }
  Make post(const std::string& path, const std::string& body) {
    return [this, path, body](std::size_t) {
      return session_.request(http::Method::kPost, path, body);
    };
  }

  bool keep(Measured measured) {
    if (measured.load.refusal) {
      (void)session_.read(*std::move(measured.load.refusal));
      session_.complain(session_.exit_code(), session_.trouble());
      return false;
    }
    measured_.push_back(std::move(measured));
    return true;
  }

  bool measure(Measured measured, std::size_t calls, std::size_t at_once, Make make) {
    if (calls == 0) return true;
    session_.say(fmt::format("Measuring {}", measured.what));
    measured.load =
        run_load(client_, {.calls = calls, .at_once = at_once, .make = std::move(make)});
    return keep(std::move(measured));
  }

  // Until nothing is due any more.
  bool take_all(std::size_t limit) {
    while (true) {
      const std::size_t before = tickets_.size();
      const auto answer =
          session_.call(http::Method::kPost, "/api/v1/leases", lease_body(limit, "0s"));
      if (!answer) return false;
      take_tickets(*answer);
      if (tickets_.size() == before) return true;
    }
  }

  void take_tickets(const object& answer) {
    for (const auto& item : array_of(answer, "items")) {
      if (item.is_object()) tickets_.push_back(text_of(item.get_object(), "ticket"));
    }
  }

  bool lease(std::size_t tasks) {
    Measured measured{.name = "lease",
                      .what = fmt::format("leases, {} tasks each", kLot),
                      .per_call = kLot,
                      .load = {}};
    const LoadPlan plan{.calls = (tasks + kLot - 1) / kLot,
                        .at_once = 1,
                        .make = post("/api/v1/leases", lease_body(kLot, "5s")),
                        .answered = [this](const http::Answer& answer) {
                          boost::json::error_code error;
                          const auto body = boost::json::parse(answer.body, error);
                          if (!error && body.is_object()) take_tickets(body.get_object());
                        }};
    session_.say(fmt::format("Measuring {}", measured.what));
    measured.load = run_load(client_, plan);
    if (!keep(std::move(measured))) return false;
    if (tickets_.size() == tasks) return true;
    session_.complain(ExitCode::kFailure,
                      fmt::format("{} of {} tasks came back: does somebody else lease {}?",
                                  tickets_.size(), tasks, kKind));
    return false;
  }

  Make completion() {
    return [this](std::size_t n) {
      return session_.request(http::Method::kPost, "/api/v1/leases/complete",
                              boost::json::serialize(object{{"ticket", tickets_[n]}}));
    };
  }

  bool complete() {
    const bool done =
        measure({"complete", "reports, a task each"}, tickets_.size(), connections(), completion());
    tickets_.clear();
    return done;
  }

  // Without measuring.
  bool finish() {
    LoadResult load = run_load(
        client_, {.calls = tickets_.size(), .at_once = connections(), .make = completion()});
    tickets_.clear();
    if (!load.refusal) return true;
    return keep({.name = {}, .what = {}, .load = std::move(load)});
  }

  // From the submit's first byte until a worker that waits has the task.
  bool pick_up(const std::string& spec) {
    Measured measured{.name = "pick_up", .what = "a task's way to a waiting worker"};
    session_.say(fmt::format("Measuring {}", measured.what));
    for (std::size_t i = 0; i < kPickUps; ++i) {
      // Shared: the client's thread may still be inside it when the answer is here.
      const auto leased = std::make_shared<std::promise<http::CallResult>>();
      std::future<http::CallResult> lease = leased->get_future();
      client_.send(post("/api/v1/leases", lease_body(1, "5s"))(i),
                   [leased](http::CallResult result) { leased->set_value(std::move(result)); });
      session_.terminal().sleep(kHeadStart);
      const auto submitted = std::chrono::steady_clock::now();
      if (!session_.call(http::Method::kPost, "/api/v1/tasks", spec)) {
        lease.wait();
        return false;
      }
      const auto answer = session_.read(lease.get());
      const auto took = std::chrono::steady_clock::now() - submitted;
      if (!answer) {
        session_.complain(session_.exit_code(), session_.trouble());
        return false;
      }
      take_tickets(*answer);
      measured.load.took.push_back(std::chrono::duration_cast<Duration>(took));
    }
    std::ranges::sort(measured.load.took);
    measured_.push_back(std::move(measured));
    return true;
  }

  void print() {
    if (session_.flags().json) return session_.print(as_json());
    Table table({{.title = "MEASURED", .may_shrink = true},
                 {.title = "A SECOND", .align = Align::kRight},
                 {.title = "MEDIAN", .align = Align::kRight},
                 {.title = "P99", .align = Align::kRight}});
    for (const Measured& one : measured_) {
      const auto rate = static_cast<std::size_t>(one.load.rate(one.per_call));
      table.add_texts({one.what, rate == 0 ? "" : grouped(rate), shown_time(one.load.quantile(0.5)),
                       shown_time(one.load.quantile(0.99))});
    }
    session_.print(table);
  }

  [[nodiscard]] object as_json() const {
    array items;
    for (const Measured& one : measured_) {
      items.push_back(object{{"name", one.name},
                             {"calls", one.load.took.size()},
                             {"per_second", one.load.rate(one.per_call)},
                             {"median_ms", milliseconds(one.load.quantile(0.5))},
                             {"p99_ms", milliseconds(one.load.quantile(0.99))}});
    }
    return {{"items", std::move(items)}};
  }

  Session& session_;
  const BenchFlags& flags_;
  http::Client& client_;
  std::vector<std::string> tickets_;
  std::vector<Measured> measured_;
};

ExitCode bench(Session& session, const BenchFlags& flags) {
  const auto client = http::Client::open({.connections_max = flags.connections + 2,
                                          .connections_per_host_max = flags.connections + 2,
                                          .user_agent = "recourse-bench"});
  if (!client) return session.complain(ExitCode::kFailure, client.error().message);
  return Bench(session, flags, **client).run();
}

}  // namespace

void add_bench_command(const Tree& tree) {
  const auto flags = std::make_shared<BenchFlags>();
  CLI::App& command = add_command(
      tree.program, "bench", "Measure a server with tasks of a kind of its own",
      {"recourse bench", "recourse bench --server https://recourse.internal --connections 64",
       "recourse bench --tasks 10000 --payload-bytes 4096 --json"});
  command.add_option("--tasks", flags->tasks, "So many one by one, and again by the hundred")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(100, 1'000'000));
  command.add_option("--connections", flags->connections, "Calls at once")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(1, 1'000));
  command.add_option("--payload-bytes", flags->payload_bytes, "Of each task")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(2, 10'000));
  runs(command, tree, [flags](Session& session) { return bench(session, *flags); });
}

}  // namespace recourse::cli
