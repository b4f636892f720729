#include "bench/server_pages.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include "http/client.h"
#include "sql/postgres/connect.h"
#include "sql/sqlite/connection.h"
#include "tests/support/bulk_rows.h"
#include "tests/support/server_process.h"
#include "tests/support/temporary_directory.h"

namespace recourse::bench {
namespace {

using Stopwatch = std::chrono::steady_clock;

constexpr int kAsked = 500;
constexpr double kLongestMs = 50;
constexpr std::size_t kRows = 50;
constexpr std::string_view kSqliteScheme = "sqlite:";

struct Question {
  const char* name;
  const char* filter;
  std::size_t rows = kRows;
};
constexpr Question kQuestions[] = {
    {"any", ""},
    {"of a kind", "&kind=mail"},
    {"in a state", "&state=pending"},
    {"of a kind, in a state", "&kind=mail&state=pending"},
    {"of a kind, finished", "&kind=mail&state=succeeded"},
    // Only the oldest of all are such: the page ends where the bounded look does.
    {"of a rare kind", "&kind=report", 0},
};

// One is old and rare, half are live, half are finished.
void fill(const std::string& url, std::size_t tasks) {
  const bool is_sqlite = url.starts_with(kSqliteScheme);
  std::unique_ptr<sql::Connection> connection;
  if (is_sqlite) {
    connection =
        must(sql::sqlite::open(url.substr(kSqliteScheme.size()), sql::sqlite::Access::kWrite));
  } else {
    connection = must(sql::postgres::connect(url, Stopwatch::now() + kPatience));
  }
  const auto database = is_sqlite ? tests::Database::kSqlite : tests::Database::kPostgres;
  const TimePoint tomorrow = wall_time() + std::chrono::hours(24);
  const std::size_t half = tasks / 2;
  must(tests::add_waiting(database, *connection, {.count = 1, .kind = "report"}, tomorrow));
  must(tests::add_waiting(database, *connection, {.count = half - 1, .first = 2}, tomorrow));
  must(tests::add_finished(database, *connection, {.count = tasks - half}, tomorrow));
}

std::size_t rows_in(std::string_view page) {
  constexpr std::string_view kRow = R"("id":"tsk_)";
  std::size_t rows = 0;
  for (std::size_t at = page.find(kRow); at != page.npos; at = page.find(kRow, at + 1)) ++rows;
  return rows;
}

// In milliseconds.
double time_page(http::Client& client, const std::string& url, const Question& question) {
  const auto start = Stopwatch::now();
  const auto result = http::fetch(client, {.method = http::Method::kGet,
                                           .url = url + question.filter,
                                           .answer_bytes_max = std::size_t{1024} * 1024});
  const double took = std::chrono::duration<double, std::milli>(Stopwatch::now() - start).count();
  const auto* answer = std::get_if<http::Answer>(&result);
  if (answer == nullptr || answer->status != 200 || rows_in(answer->body) != question.rows) {
    give_up(std::string("no page of tasks ") + question.name);
  }
  return took;
}

double percentile_99(std::vector<double> times) {
  std::ranges::sort(times);
  return times[times.size() * 99 / 100];
}

}  // namespace

std::vector<Figure> measure_pages(const Contest& contest, std::size_t tasks) {
  const std::unique_ptr<Side> side = contest.limit();
  fill(side->url(), tasks);
  const tests::TemporaryDirectory folder;
  const tests::ServerProcess server(folder.path(), "server",
                                    "server: {listen: '127.0.0.1:0'}\nstore: {url: '" +
                                        side->url() + "'}\nkinds:\n  mail: {type: worker}\n");
  const std::string url = fmt::format("{}/api/v1/tasks?limit={}", server.url(), kRows);
  const auto client = must(http::Client::open({}));
  std::vector<Figure> figures;
  for (const Question& question : kQuestions) {
    std::vector<double> times;
    for (int i = 0; i < kAsked; ++i) times.push_back(time_page(*client, url, question));
    const double longest = percentile_99(std::move(times));
    figures.push_back({.bench = "server",
                       .name = fmt::format("{} p99, {}", contest.name, question.name),
                       .value = longest,
                       .unit = "ms",
                       .comparison = std::nullopt,
                       .goal = "at most 50 ms",
                       .met = longest <= kLongestMs});
  }
  return figures;
}

}  // namespace recourse::bench
