// Three nodes on one table (one on SQLite) while they are killed: no row is handled twice at once,
// each ends as its script says, and nothing else in the table is touched.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "base/clock.h"
#include "base/log.h"
#include "embed/open_store.h"
#include "task/transition.h"
#include "tests/guard_fixture.h"
#include "tests/guard_script.h"
#include "tests/support/full_form.h"
#include "tests/support/ledger.h"

namespace recourse::tests {
namespace {

using ::testing::IsEmpty;

// One node, again and again; every start is another incarnation.
class NodeProcess {
 public:
  NodeProcess(std::vector<std::string> arguments, const Ledger& ledger, std::string step)
      : arguments_(std::move(arguments)), ledger_(ledger), step_(std::move(step)) {
    start();
  }
  ~NodeProcess() {
    if (pid_ > 0) kill();
  }
  NodeProcess(const NodeProcess&) = delete;
  NodeProcess& operator=(const NodeProcess&) = delete;

  // Written down when it is surely gone.
  void kill() {
    ::kill(pid_, SIGKILL);
    (void)wait();
    ledger_.write("K 0 " + incarnation_ + "\n");
  }
  int end() {
    ::kill(pid_, SIGTERM);
    return wait();
  }
  // Whether it has died by itself; then it is started once more.
  bool start_again() {
    if (::waitpid(pid_, nullptr, WNOHANG) != pid_) return false;
    ledger_.write("K 0 " + incarnation_ + "\n");
    start();
    return true;
  }
  void start() {
    static int starts = 0;
    incarnation_ = std::to_string(++starts);
    std::vector<std::string> all = arguments_;
    all.push_back(incarnation_);
    all.push_back(step_);
    pid_ = ::fork();
    if (pid_ != 0) return;
    std::vector<char*> words;
    for (std::string& word : all) words.push_back(word.data());
    words.push_back(nullptr);
    ::execv(words[0], words.data());
    ::_exit(127);
  }

 private:
  int wait() {
    int status = -1;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    return status;
  }

  std::vector<std::string> arguments_;
  const Ledger& ledger_;
  const std::string step_;
  std::string incarnation_;
  pid_t pid_ = 0;
};

struct Story {
  std::vector<std::string> twice_at_once;
  int starts = 0;
  std::set<std::int64_t> cut_off = {};  // rows that ran in a process that was killed
};

// Lines are in the order in which they happened: every write appends.
Story read(const std::filesystem::path& path) {
  Story story;
  std::map<std::string, std::string> running;  // row, incarnation
  std::set<std::string> dead;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string what;
    std::string row;
    std::string incarnation;
    words >> what >> row >> incarnation;
    if (what == "K") dead.insert(incarnation);
    if (what == "E") running.erase(row);
    if (what != "S") continue;
    ++story.starts;
    const auto before = running.find(row);
    if (before != running.end()) {
      story.cut_off.insert(std::stoll(row));
      if (!dead.contains(before->second)) story.twice_at_once.push_back(line);
    }
    running[row] = incarnation;
  }
  for (const auto& [row, incarnation] : running) {
    if (dead.contains(incarnation)) story.cut_off.insert(std::stoll(row));
  }
  return story;
}

class GuardKilled : public GuardOnStore {
 protected:
  GuardKilled() : ledger_(path("ledger").c_str()) {
    std::filesystem::create_directory(path("paid"));
  }

  [[nodiscard]] std::string path(const char* name) const { return directory_.path() / name; }
  std::int64_t count(const std::string& where) {
    return app_.number("SELECT COUNT(*) FROM user_bill WHERE " + where);
  }
  [[nodiscard]] RowScript script(std::int64_t id) const { return script_of(id, step_); }

  // As fast as a database can: what is there, once more.
  void fill() {
    app_.execute(bill_table());
    app_.execute("INSERT INTO user_bill VALUES (1, 'u-1', 'SUCCESS', 10)");
    for (std::int64_t there = 1; there < rows_; there *= 2) {
      app_.execute(
          "INSERT INTO user_bill SELECT id + ?, user_id, status, amount FROM user_bill "
          "WHERE id + ? <= ?",
          {there, there, rows_});
    }
  }
  // A guard of this process, alone: a file of SQLite's has one opener.
  void with_guard(const std::function<void(Bills&)>& look) {
    engine_ = Engine::open({.store = "memory:", .log = log_.sink()}).value();
    GuardOptions options = quick();
    options.scan_every = 1h;
    const auto bills = add(options);
    start();
    look(*bills);
    engine_ = Engine::open({.store = "memory:"}).value();
  }
  void start_nodes() {
    for (int i = 0; i < (std::string(GetParam()) == "Sqlite" ? 1 : 3); ++i) {
      nodes_.push_back(std::make_unique<NodeProcess>(
          std::vector<std::string>{GUARD_NODE, place_.url(), app_.url(), path("ledger"),
                                   path("paid")},
          ledger_, std::to_string(step_)));
    }
  }
  // The application writes and rolls back meanwhile, and pays some bills itself.
  void work_beside() {
    const auto id =
        static_cast<std::int64_t>(random_() % static_cast<unsigned>(stuck_) + 1) * step_;
    app_.begin();
    app_.execute("UPDATE user_bill SET amount = amount + 1 WHERE id = ?", {id});
    app_.rollback();
    app_.execute("UPDATE user_bill SET amount = amount + 1 WHERE id = ?", {id});
    if (script(id) != RowScript::kHealedByBusiness) return;
    app_.execute("UPDATE user_bill SET status = 'SUCCESS' WHERE id = ?", {id});
  }
  void kill_one() {
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(random_() % 1'000 + 300);
    while (std::chrono::steady_clock::now() < until) {
      work_beside();
      std::this_thread::sleep_for(5ms);
    }
    NodeProcess& victim = *nodes_[random_() % nodes_.size()];
    victim.kill();
    victim.start();
  }
  void pay_the_rest() {
    for (std::int64_t id = step_; id <= rows_; id += step_) {
      if (script(id) != RowScript::kHealedByBusiness) continue;
      app_.execute("UPDATE user_bill SET status = 'SUCCESS' WHERE id = ?", {id});
    }
  }
  // Nothing moves any more: neither nodes, nor scans that heal, nor people have anything to do.
  bool is_over() {
    return count("err_status = 4000 OR (err_status = 4001 AND status = 'SUCCESS')") == 0 &&
           count("err_status = 4001 AND id % " + std::to_string(10 * step_) + " = " +
                 std::to_string(9 * step_)) == 0;
  }
  // Rows that the engine has given up because they ran at three deaths (I7), by its own record.
  std::set<std::int64_t> rows_of_dead_owners() {
    SystemClock clock;
    NullLog log;
    const embed::NamedStore store = embed::open_store(place_.url(), clock, log, 2).value();
    store::Filter given_up;
    given_up.states = {task::State::kDead, task::State::kResolved};
    std::set<std::int64_t> rows;
    std::optional<task::TaskId> after;
    do {
      const store::TaskPage page =
          store.opened->reader().list(given_up, after, store::kPageRowsMax, 10s).value();
      for (const task::Task& task : page.tasks) {
        if (task.last_error && task.last_error->code == task::kOwnersDied)
          rows.insert(std::stoll(task.spec.payload));
      }
      after = page.next;
    } while (after);
    return rows;
  }
  // What is not as its script says. A row that was running at three deaths may be their cause, and
  // is with a person then.
  std::vector<std::string> wrong_ends(const std::set<std::int64_t>& of_dead_owners) {
    std::vector<std::string> wrong;
    for (const SqlRow& row :
         app_.query("SELECT id, err_status, status FROM user_bill WHERE err_status IS NOT NULL")) {
      const auto id = std::get<std::int64_t>(row[0]);
      const auto err_status = std::get<std::int64_t>(row[1]);
      const int end = end_of(script(id));
      const auto is = [&](int expected) {
        return err_status == expected &&
               std::get<std::string>(row[2]) == (expected == 4001 ? "FAIL" : "SUCCESS");
      };
      if (id % step_ == 0 && (is(end) || (is(4001) && of_dead_owners.contains(id)))) continue;
      wrong.push_back(std::to_string(id) + ": " + std::to_string(err_status) + " " +
                      std::get<std::string>(row[2]) + ", not " + std::to_string(end));
    }
    return wrong;
  }

  const std::int64_t rows_ = is_full() ? 1'000'000 : 4'000;
  const std::int64_t stuck_ = is_full() ? 5'000 : 200;
  const std::int64_t step_ = rows_ / stuck_;
  const Ledger ledger_;
  std::mt19937 random_{std::random_device{}()};
  std::vector<std::unique_ptr<NodeProcess>> nodes_;
};
INSTANTIATE_TEST_SUITE_P(Stores, GuardKilled, kGuardStores, guard_store_name);

// GUARD-8 to GUARD-13, I13
TEST_P(GuardKilled, NoRowIsHandledTwiceAtOnceAndEachEndsAsItsScriptSays) {
  fill();
  with_guard([](Bills&) {});  // adds the columns
  app_.execute("UPDATE user_bill SET status = 'FAIL', err_status = 4000 WHERE id % ? = 0", {step_});
  ASSERT_EQ(count("err_status = 4000"), stuck_);
  const auto begun = std::chrono::steady_clock::now();

  start_nodes();
  for (int i = 0; i < (is_full() ? 30 : 6); ++i) kill_one();
  pay_the_rest();
  EXPECT_TRUE(eventually([&] { return is_over(); }, is_full() ? 300s : 60s));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  for (const auto& node : nodes_) EXPECT_EQ(node->end(), 0) << "it stops cleanly";

  const Story story = read(path("ledger"));
  EXPECT_THAT(story.twice_at_once, IsEmpty());
  const std::set<std::int64_t> of_dead_owners = rows_of_dead_owners();
  EXPECT_THAT(wrong_ends(of_dead_owners), IsEmpty());
  EXPECT_EQ(count("err_status IS NOT NULL"), stuck_) << "nothing else was touched";
  EXPECT_EQ(count("id > 0"), rows_);
  RecordProperty("handler_starts", story.starts);
  RecordProperty("cut_off", static_cast<int>(story.cut_off.size()));
  RecordProperty("of_dead_owners", static_cast<int>(of_dead_owners.size()));
  EXPECT_LE(std::ssize(of_dead_owners), stuck_ / 53 + 20)
      << "those that run for seconds, and hardly another";
  RecordProperty("seconds", std::to_string(took.count()));
  with_guard([&](Bills& bills) {
    const GuardFigures before = bills.figures();
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(bills.scan_now());
    const auto idle = (bills.figures().scan_time - before.scan_time) / 20;
    RecordProperty("idle_scan_us", static_cast<int>(idle.count()));
    EXPECT_LT(idle, 200ms) << "of a table in which nothing is due";
  });
}

// I7, GUARD-10: a row whose handler kills its process does so a few times, and not for all of its
// window. Its next error is another story.
TEST_P(GuardKilled, ARowThatKillsItsProcessEndsWithAPerson) {
  app_.execute(bill_table());
  with_guard([](Bills&) {});  // adds the columns
  app_.execute("INSERT INTO user_bill (id, status) VALUES (2, 'FAIL'), (3, 'FAIL'), (4, 'FAIL')");
  const std::filesystem::path deadly = std::filesystem::path(path("paid")) / "deadly-3";
  std::ofstream(deadly).flush();
  // Alone: a row that runs at the very moment of a death is under suspicion as well.
  app_.execute("UPDATE user_bill SET err_status = 4000 WHERE id = 3");
  NodeProcess node({GUARD_NODE, place_.url(), app_.url(), path("ledger"), path("paid")}, ledger_,
                   "1");
  int deaths = 0;
  const auto told = [&] {
    if (node.start_again()) ++deaths;
    return number("COALESCE(err_submit_manual_status, 0)", 3) == 2000;
  };

  ASSERT_TRUE(eventually(told, 90s)) << deaths;

  EXPECT_EQ(number("err_status", 3), 4001);
  EXPECT_EQ(status(3), "FAIL");
  EXPECT_GE(deaths, 3);
  // The first one is not counted: only from then on a start is written down.
  EXPECT_LE(deaths, 4);
  app_.execute("UPDATE user_bill SET err_status = 4000 WHERE id <> 3");
  EXPECT_TRUE(reaches(2001, 2)) << "others are healed as ever";
  EXPECT_TRUE(reaches(2001, 4));
  RecordProperty("deaths", deaths);

  std::filesystem::remove(deadly);
  app_.execute(
      "UPDATE user_bill SET err_status = 4000, err_start_time = NULL, err_next_retry_time = NULL "
      "WHERE id = 3");

  EXPECT_TRUE(reaches(2001, 3)) << "it is run again, and heals";
  EXPECT_EQ(node.end(), 0);
}

}  // namespace
}  // namespace recourse::tests
