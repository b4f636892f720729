// ./dev bench store: our store beside a hand-written loop of plain SQL on the same tables.
//
// Every measurement starts on a fresh, never analysed database. The two sides take turns, because
// the machine is never quite the same twice. Of each side the best round counts, and of the numbers
// of connections the best: whatever else the machine does can only make a round slower, so the best
// is the least disturbed, and says more about the code than a median of disturbed ones.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/function_ref.h"
#include "bench/report.h"
#include "bench/store_sides.h"

namespace recourse::bench {
namespace {

using Stopwatch = std::chrono::steady_clock;
using Submissions = std::vector<store::Submission>;

constexpr int kRounds = 6;
constexpr std::size_t kBatches[] = {100, 500};
constexpr double kGoal = 0.8;
constexpr std::size_t kPayloadBytes = 200;

enum class Birth : std::uint8_t { kPending, kClaimed };

Submissions make_submissions(std::size_t count, std::size_t batch, Birth birth,
                             std::uint64_t seed) {
  UlidSequence ids(seed);
  const TimePoint now = wall_time();
  const task::Incarnation owner(ids.next(now));
  task::LeaseId lease;
  Submissions made(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (i % batch == 0) lease = task::LeaseId(ids.next(now));
    made[i].spec.kind = kKind;
    made[i].spec.tenant = task::Tenant("shop");
    made[i].spec.priority = kPriority;
    std::string payload = fmt::format(R"({{"order": {}, "amount": "17.50", "note": ")", i);
    payload.resize(kPayloadBytes - 2, 'x');
    made[i].spec.payload = payload + "\"}";
    if (birth == Birth::kClaimed) made[i].claim = {.owner = owner, .lease = lease};
  }
  return made;
}

// Some threads, each with its line.
class Crew {
 public:
  Crew(Side& side, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) lines_.push_back(side.line());
    // Connections are open and the server's caches warm before anything is timed.
    run([](Line& line, std::size_t) { line.claim(1); });
  }

  // Answers the seconds from the first start to the last end.
  double run(FunctionRef<void(Line&, std::size_t member)> work) {
    Stopwatch::time_point begin;
    std::barrier all_there(static_cast<std::ptrdiff_t>(lines_.size()),
                           [&]() noexcept { begin = Stopwatch::now(); });
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < lines_.size(); ++i) {
        threads.emplace_back([&, i] {
          all_there.arrive_and_wait();
          work(*lines_[i], i);
        });
      }
    }
    return std::chrono::duration<double>(Stopwatch::now() - begin).count();
  }

 private:
  std::vector<std::unique_ptr<Line>> lines_;
};

// Seconds by step.
using Times = std::map<std::string, double>;

struct Setting {
  std::size_t tasks;
  std::size_t batch;
  std::size_t connections;
};

std::vector<Submissions> shares(const Setting& setting, Birth birth) {
  std::vector<Submissions> made;
  for (std::size_t i = 0; i < setting.connections; ++i) {
    made.push_back(
        make_submissions(setting.tasks / setting.connections, setting.batch, birth, 1'000 + i));
  }
  return made;
}

// Ids are made when they are sent, as submitters do: an old one would not be taken for fresh.
void insert_all(Line& line, Submissions& share, std::size_t batch, FunctionRef<void()> after_each) {
  UlidSequence ids(new_seed());
  for (std::size_t i = 0; i < share.size(); i += batch) {
    const auto now_sent = std::span(share).subspan(i, std::min(batch, share.size() - i));
    const TimePoint now = wall_time();
    for (store::Submission& submission : now_sent) submission.id = task::TaskId(ids.next(now));
    line.insert(now_sent);
    after_each();
  }
}

// Claiming is a race: a thread that gets nothing waits for what others may leave.
void measure_steps(Side& side, const Setting& setting, Times& times) {
  std::vector<Submissions> work = shares(setting, Birth::kPending);
  const std::size_t total = work.front().size() * work.size();
  Crew crew(side, setting.connections);
  times["insert"] = crew.run([&](Line& line, std::size_t member) {
    insert_all(line, work[member], setting.batch, [] {});
  });
  std::atomic<std::size_t> claimed = 0;
  times["claim"] = crew.run([&](Line& line, std::size_t) {
    while (claimed < total) claimed += line.claim(setting.batch);
  });
  times["apply"] = crew.run([](Line& line, std::size_t) {
    while (line.succeed() > 0) continue;
  });
}

void measure_life(Side& side, const Setting& setting, Times& times) {
  std::vector<Submissions> work = shares(setting, Birth::kPending);
  const std::size_t total = work.front().size() * work.size();
  Crew crew(side, setting.connections);
  std::atomic<std::size_t> finished = 0;
  times["life"] = crew.run([&](Line& line, std::size_t member) {
    const auto claim_and_finish = [&] {
      line.claim(setting.batch);
      finished += line.succeed();
    };
    insert_all(line, work[member], setting.batch, claim_and_finish);
    while (finished < total) claim_and_finish();
  });
}

void measure_born_claimed(Side& side, const Setting& setting, Times& times) {
  std::vector<Submissions> work = shares(setting, Birth::kClaimed);
  Crew crew(side, setting.connections);
  times["life, born claimed"] = crew.run([&](Line& line, std::size_t member) {
    insert_all(line, work[member], setting.batch, [&] { line.succeed(); });
  });
}

using Measure = void (*)(Side&, const Setting&, Times&);
constexpr Measure kMeasures[] = {measure_steps, measure_life, measure_born_claimed};

struct Speeds {
  double limit = 0;
  double ours = 0;
};

void run_setting(const Contest& contest, const Setting& setting,
                 std::map<std::string, Speeds>& best) {
  const auto note = [&](double Speeds::*side, const Times& times) {
    for (const auto& [step, seconds] : times) {
      double& speed = best[step].*side;
      speed = std::max(speed, static_cast<double>(setting.tasks) / seconds);
    }
  };
  for (const Measure measure : kMeasures) {
    // An extra row: with the larger batch only, to keep the run short.
    if (measure == measure_born_claimed && setting.batch != kBatches[1]) continue;
    for (int round = 0; round < kRounds; ++round) {
      Times times;
      measure(*contest.limit(), setting, times);
      note(&Speeds::limit, times);
      times.clear();
      measure(*contest.ours(setting.connections), setting, times);
      note(&Speeds::ours, times);
    }
  }
}

struct Row {
  std::string store;
  std::string step;
  std::size_t batch;
  Speeds speeds;
};

void print_table(const std::vector<Row>& rows) {
  fmt::print("{:<10} {:<20} {:>5} {:>12} {:>12} {:>7}\n", "store", "step", "batch", "limit/s",
             "ours/s", "ratio");
  for (const Row& row : rows) {
    const double ratio = row.speeds.ours / row.speeds.limit;
    fmt::print("{:<10} {:<20} {:>5} {:>12.0f} {:>12.0f} {:>7.2f}{}\n", row.store, row.step,
               row.batch, row.speeds.limit, row.speeds.ours, ratio,
               ratio < kGoal ? fmt::format("  below {:.1f}", kGoal) : "");
  }
}

void print_json(const std::vector<Row>& rows) {
  std::vector<Figure> figures;
  for (const Row& row : rows) {
    figures.push_back({"store", fmt::format("{}/{}/{}", row.store, row.step, row.batch),
                       row.speeds.ours, "tasks/s",
                       Comparison{"plain SQL", row.speeds.ours / row.speeds.limit}, ""});
  }
  print(figures, Format::kJson);
}

int run(int argc, char** argv) {
  const Format format = take_format(argc, argv);
  // What is left may name one store.
  const std::string only = argc > 1 ? argv[1] : "";
  std::vector<Row> rows;
  for (const Contest& contest : contests()) {
    if (!only.empty() && only != contest.name) continue;
    for (const std::size_t batch : kBatches) {
      std::map<std::string, Speeds> best;
      for (const std::size_t connections : contest.connections) {
        run_setting(contest, {contest.tasks, batch, connections}, best);
      }
      for (const char* step : {"insert", "claim", "apply", "life", "life, born claimed"}) {
        if (best.contains(step)) rows.push_back({contest.name, step, batch, best.at(step)});
      }
    }
  }
  if (format == Format::kJson) {
    print_json(rows);
  } else {
    print_table(rows);
  }
  return 0;
}

}  // namespace
}  // namespace recourse::bench

int main(int argc, char** argv) { return recourse::bench::run(argc, argv); }
