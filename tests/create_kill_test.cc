// Many threads of several processes create the same orders while processes are killed: one order
// and one id for each key, and every answer true.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "tests/create_fixture.h"
#include "tests/support/full_form.h"

namespace recourse::tests {
namespace {

using ::testing::IsEmpty;

struct Answers {
  std::map<std::string, std::set<std::string>> ids;  // by key
  std::vector<std::string> wrong;
  std::int64_t longest_ms = 0;
};

Answers read(const std::filesystem::path& ledger) {
  Answers answers;
  std::ifstream file(ledger);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string what;
    std::string key;
    std::string rest;
    words >> what >> key >> rest;
    if (what == "R" && !rest.empty()) answers.ids["key-" + key].insert(rest);
    if (what == "X") answers.wrong.push_back(line);
    if (what == "S" && !rest.empty()) {
      answers.longest_ms = std::max<std::int64_t>(answers.longest_ms, std::stoll(rest));
    }
  }
  return answers;
}

class Process {
 public:
  explicit Process(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {
    start();
  }
  ~Process() {
    if (pid_ > 0) kill();
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void kill() {
    ::kill(pid_, SIGKILL);
    (void)wait();
  }
  void start() {
    pid_ = ::fork();
    if (pid_ != 0) return;
    std::vector<char*> words;
    for (std::string& word : arguments_) words.push_back(word.data());
    words.push_back(nullptr);
    ::execv(words[0], words.data());
    ::_exit(127);
  }
  int wait() {
    int status = -1;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    return status;
  }

 private:
  std::vector<std::string> arguments_;
  pid_t pid_ = 0;
};

class CreateKilled : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Stores, CreateKilled, kCreateStores, create_store_name);

// IDEM-2 to IDEM-8
TEST_P(CreateKilled, OneOrderAndOneIdForEachKeyAndEveryAnswerIsOnDisk) {
  const std::string store = GetParam();
  const Place place(store);
  const TemporaryDirectory folder;
  const std::filesystem::path ledger = folder.path() / "ledger";
  const int keys = is_full() ? 1'000 : 150;
  // One process has a file of SQLite's.
  const int processes = store == "Sqlite" ? 1 : 3;
  const int threads = is_full() ? 64 : 16;
  const int kills = is_full() ? 30 : 6;
  {
    Engine engine = Engine::open({.store = place.url()}).value();
    Create create(engine);
    ASSERT_TRUE(create.transact(5s, [&](CreateTransaction& own) -> Result<> {
      const auto made = own.execute(table_of(store));
      return made ? Result<>() : fail(made.error());
    }));
  }
  std::vector<std::unique_ptr<Process>> crew;
  for (int i = 0; i < processes; ++i) {
    crew.push_back(std::make_unique<Process>(std::vector<std::string>{
        CREATE_CALLER, place.url(), ledger, std::to_string(keys), std::to_string(threads)}));
  }
  std::mt19937 random(std::random_device{}());
  for (int i = 0; i < kills; ++i) {
    // From the very beginning of a process to the middle of its work.
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 700 + 30));
    Process& victim = *crew[random() % crew.size()];
    victim.kill();
    victim.start();
  }
  for (const auto& one : crew) EXPECT_EQ(one->wait(), 0);

  Engine engine = Engine::open({.store = place.url()}).value();
  Create create(engine);
  std::map<std::string, std::set<std::string>> orders;
  std::int64_t unfinished = -1;
  ASSERT_TRUE(create.transact(9s, [&](CreateTransaction& own) -> Result<> {
    const auto rows = own.query("SELECT idem_key, public_id FROM shop_order");
    if (!rows) return fail(rows.error());
    for (const SqlRow& row : *rows) {
      orders[std::get<std::string>(row[0])].insert(std::get<std::string>(row[1]));
    }
    const auto left = own.query("SELECT COUNT(*) FROM recourse_create WHERE state <> 'succeeded'");
    if (!left) return fail(left.error());
    unfinished = std::get<std::int64_t>(left->at(0).at(0));
    return {};
  }));
  const Answers answers = read(ledger);
  EXPECT_THAT(answers.wrong, IsEmpty());
  EXPECT_EQ(orders.size(), static_cast<std::size_t>(keys));
  for (const auto& [key, ids] : orders) EXPECT_EQ(ids.size(), 1U) << key;
  EXPECT_EQ(answers.ids, orders) << "what was answered is what is there";
  EXPECT_EQ(unfinished, 0);
  // A lock lasts 2 s; its next holder may be killed too, and machines are busy.
  EXPECT_LT(answers.longest_ms, 3 * 2'000 + 4'000);
  RecordProperty("longest_wait_ms", std::to_string(answers.longest_ms));
}

}  // namespace
}  // namespace recourse::tests
