// ./dev bench server: the program `recourse serve` as a process of its own, asked over HTTP from
// this one, which shares its processors.
//
//   submits   beside as many threads that submit to an engine in this process; the best of some
//             rounds counts, the sides take turns
//   calls     1,000 attempts in flight to a service that answers after some seconds
//   pages     of a list of 1,000,000 tasks; --tasks N for fewer
#include <charconv>
#include <string_view>

#include "bench/report.h"
#include "bench/server_flight.h"
#include "bench/server_pages.h"
#include "bench/server_submits.h"
#include "bench/store_sides.h"

namespace recourse::bench {
namespace {

constexpr std::size_t kTasks = 1'000'000;

std::size_t tasks_of(int argc, char** argv) {
  std::size_t tasks = kTasks;
  if (argc == 1) return tasks;
  const std::string_view number = argc == 3 ? argv[2] : "";
  const auto [end, error] = std::from_chars(number.begin(), number.end(), tasks);
  if (std::string_view(argv[1]) != "--tasks" || error != std::errc() || end != number.end() ||
      tasks < kTasks / 50) {
    give_up("it takes --json, and --tasks N with at least 20000");
  }
  return tasks;
}

int run(int argc, char** argv) {
  const Format format = take_format(argc, argv);
  const std::size_t tasks = tasks_of(argc, argv);
  std::vector<Figure> figures;
  const auto add = [&figures](const std::vector<Figure>& more) {
    figures.insert(figures.end(), more.begin(), more.end());
  };
  for (const Contest& contest : contests()) {
    if (contest.name == "sqlite") add(measure_submits(contest.limit));
  }
  add(measure_calls_in_flight());
  for (const Contest& contest : contests()) {
    if (contest.name != "mariadb") add(measure_pages(contest, tasks));
  }
  print(figures, format);
  return 0;
}

}  // namespace
}  // namespace recourse::bench

int main(int argc, char** argv) { return recourse::bench::run(argc, argv); }
