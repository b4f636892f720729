// A consumer that is killed again and again, at a broker that is restarted meanwhile: no message is
// lost, none is acknowledged without a record, none is done twice but in the one window there is.
// I12, MSG-5, MSG-8, MSG-12
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "message/envelope.h"
#include "store/sqlite/sqlite_store.h"
#include "tests/message_door.h"
#include "tests/message_fixture.h"
#include "tests/support/place.h"
#include "tests/support/private_server.h"

namespace recourse::tests {
namespace {

using ::testing::IsEmpty;

bool full() { return std::getenv("RECOURSE_TEST_FULL") != nullptr; }

class ConsumerProcess {
 public:
  explicit ConsumerProcess(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {}
  ~ConsumerProcess() {
    if (pid_ > 0) end(SIGKILL);
  }
  ConsumerProcess(const ConsumerProcess&) = delete;
  ConsumerProcess& operator=(const ConsumerProcess&) = delete;

  void start() {
    std::vector<std::string> all = arguments_;
    all.push_back(std::to_string(++starts_));
    pid_ = ::fork();
    if (pid_ != 0) return;
    std::vector<char*> words;
    for (std::string& word : all) words.push_back(word.data());
    words.push_back(nullptr);
    ::execv(words[0], words.data());
    ::_exit(127);
  }
  // Answers its exit status.
  int end(int signal) {
    ::kill(pid_, signal);
    int status = -1;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    return status;
  }

 private:
  std::vector<std::string> arguments_;
  int starts_ = 0;
  pid_t pid_ = 0;
};

// What the processes wrote down.
struct Story {
  std::map<std::string, std::vector<std::string>> effects;  // message, and by which process
  std::map<std::string, int> failures;
  std::size_t starts = 0;
};

Story read(const std::string& path) {
  Story story;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string what;
    std::string id;
    std::string process;
    words >> what >> id >> process;
    if (what == "S") ++story.starts;
    if (what == "E") story.effects[id].push_back(process);
    if (what == "F") ++story.failures[id];
  }
  return story;
}

class MessageKilled : public MessageBroker {
 protected:
  void SetUp() override {
    if (!is("Kafka")) {
      server_ =
          std::make_unique<PrivateServer>(is("Redis") ? ServerKind::kRedis : ServerKind::kRabbitmq);
      url_ = server_->url();
    }
    MessageBroker::SetUp();
  }

  [[nodiscard]] std::string path(const char* name) const {
    return (folder_.path() / name).string();
  }
  [[nodiscard]] std::string word_of(int i) const {
    return i % 100 == 7 ? "never" : i % 20 == 3 ? "once" : "ok";
  }
  void publish_all() {
    const auto source = open();
    for (int begin = 0; begin < count_; begin += kPublished) {
      std::vector<Outgoing> messages;
      for (int i = begin; i < std::min(count_, begin + kPublished); ++i) {
        const std::string id = "m" + std::to_string(i);
        messages.push_back({.topic = topic_,
                            .key = "k" + std::to_string(i % 50),
                            .id = id,
                            .body = word_of(i) + " " + id});
      }
      const Result<> done = source->publish(messages, in(60s));
      ASSERT_TRUE(done) << done.error().message;
    }
    (void)source->close(in(5s));
  }
  void restart_broker() {
    if (is("Kafka")) (void)mock_cluster().ask("down");
    // RabbitMQ's classic queues are asked to stop: see message_trouble_test.cc.
    if (is("Rabbitmq")) server_->stop();
    if (is("Redis")) server_->kill();
    server_ ? server_->start() : (void)mock_cluster().ask("up");
  }
  [[nodiscard]] std::size_t done() const { return read(path("ledger")).effects.size(); }
  bool is_done(std::size_t count) {
    return eventually([&] { return done() >= count; }, full() ? 600s : 60s);
  }
  // By message.
  std::map<std::string, std::vector<task::Task>> records(store::Reader& reader) {
    std::map<std::string, std::vector<task::Task>> all;
    std::optional<task::TaskId> after;
    do {
      auto page = reader.list({}, after, store::kPageRowsMax, 10s).value();
      for (task::Task& task : page.tasks) {
        all[task.spec.search_keys.at("message_id")].push_back(std::move(task));
      }
      after = page.next;
    } while (after);
    return all;
  }
  // Complete and in order: 1, 2, 3, ... each after the one before.
  static void check_history(store::Reader& reader, const task::Task& task, std::size_t failures) {
    const auto attempts = reader.attempts(task.id, 10s).value();
    ASSERT_EQ(attempts.size(), failures) << task.spec.payload;
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      EXPECT_EQ(attempts[i].number, static_cast<int>(i) + 1);
      EXPECT_THAT(attempts[i].error->message, ::testing::HasSubstr("connection refused"));
      if (i == 0) continue;
      EXPECT_GE(attempts[i].started_at, attempts[i - 1].ended_at);
      EXPECT_GT(attempts[i].fence, attempts[i - 1].fence);
    }
  }
  void check_records(store::Reader& reader) {
    const auto all = records(reader);
    EXPECT_EQ(all.size(), static_cast<std::size_t>(count_)) << "no message is lost";
    for (int i = 0; i < count_; ++i) {
      const auto found = all.find("m" + std::to_string(i));
      ASSERT_NE(found, all.end()) << "message " << i << " is gone";
      ASSERT_EQ(found->second.size(), 1U) << "message " << i << " made several tasks";
      const task::Task& task = found->second.front();
      const std::string word = word_of(i);
      EXPECT_EQ(task.state, word == "never" ? task::State::kDead : task::State::kSucceeded)
          << task.spec.payload;
      if (word != "ok") check_history(reader, task, word == "never" ? 6 : 1);
    }
  }
  // Answers how many effects there were beyond one for each message.
  std::size_t check_effects(const Story& story) {
    std::size_t repeats = 0;
    for (const auto& [id, processes] : story.effects) {
      repeats += processes.size() - 1;
      // Only a process that was killed after an effect, and before it was written down, leaves it
      // to be done again.
      EXPECT_EQ(std::set(processes.begin(), processes.end()).size(), processes.size())
          << id << " was done twice by one process";
    }
    return repeats;
  }

  static constexpr int kPublished = 500;
  const int count_ = full() ? 100'000 : 2'000;
  const int kills_ = full() ? 10 : 3;
  TemporaryDirectory folder_;
  std::unique_ptr<PrivateServer> server_;
};
INSTANTIATE_TEST_SUITE_P(Brokers, MessageKilled,
                         ::testing::Values("RabbitmqClassic", "Redis", "KafkaMock"),
                         [](const auto& one) { return one.param; });

TEST_P(MessageKilled, EveryMessageIsDoneOnceOrWithAPerson) {
  publish_all();
  const auto wanted = static_cast<std::size_t>(count_ - count_ / 100);
  const auto begun = std::chrono::steady_clock::now();
  ConsumerProcess consumer(
      {MESSAGE_NODE, path("store.db"), path("ledger"), settings().url, topic_, settings().group});
  consumer.start();

  for (int i = 1; i <= kills_; ++i) {
    ASSERT_TRUE(
        is_done(wanted * static_cast<std::size_t>(i) / static_cast<std::size_t>(kills_ + 1)));
    consumer.end(SIGKILL);
    consumer.start();
    if (i <= 2) restart_broker();
  }
  ASSERT_TRUE(is_done(wanted));
  const auto is_over = [&] {
    int never = 0;
    for (const auto& [id, failures] : read(path("ledger")).failures) never += failures >= 6 ? 1 : 0;
    return never >= count_ / 100;
  };
  EXPECT_TRUE(eventually(is_over, 60s));
  // The last outcomes and verdicts are under way.
  std::this_thread::sleep_for(500ms);
  EXPECT_EQ(consumer.end(SIGTERM), 0) << "it stops cleanly";
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;

  const SystemClock clock;
  const auto opened = store::sqlite::open(path("store.db"), clock).value();
  check_records(opened->reader());
  const Story story = read(path("ledger"));
  const std::size_t repeats = check_effects(story);
  EXPECT_EQ(story.effects.size(), wanted);
  // All of them are acknowledged, too.
  EXPECT_THAT(ids(receive(*open(), 1, is("Kafka") ? 4s : 2s)), IsEmpty());
  RecordProperty("repeats", static_cast<int>(repeats));
  RecordProperty("seconds", std::to_string(took.count()));
  std::printf("%s: %d messages, %d kills, %zu attempts, %zu done twice, %.1f s\n", GetParam(),
              count_, kills_, story.starts, repeats, took.count());
}

// A message that fails for ever, and one that does not parse, hold up nobody.
TEST_P(MessageKilled, APoisonMessageDoesNotDelayTheOnesBehindIt) {
  constexpr int kRounds = 15;
  const SystemClock clock;
  Mutex mutex;
  std::map<std::string, std::chrono::steady_clock::time_point> ran;
  MessageDoor door(store::sqlite::open(path("store.db"), clock).value(), log_);
  door.handle(MessageDoor::handler_of([&](const task::Task& task) -> engine::AttemptResult {
    {
      const MutexLock lock(mutex);
      ran.emplace(task.spec.search_keys.at("message_id"), std::chrono::steady_clock::now());
    }
    if (task.spec.payload == R"("poison")") {
      std::this_thread::sleep_for(300ms);
      return engine::Failed{policy::Declined{"connection refused"}};
    }
    return engine::Succeeded{};
  }));
  message::HandOverSettings handed = message_settings();
  handed.format = message::BodyFormat::kJson;
  door.feed(open(), door.deal(handed));
  const auto publisher = open();
  const auto when = [&](const std::string& id) {
    const MutexLock lock(mutex);
    const auto found = ran.find(id);
    return found == ran.end() ? std::nullopt : std::optional(found->second);
  };
  const auto send = [&](const std::string& id, std::string body) {
    const std::vector<Outgoing> one{
        {.topic = topic_, .key = "k", .id = id, .body = std::move(body)}};
    ASSERT_TRUE(publisher->publish(one, in(20s)));
  };

  std::vector<std::chrono::duration<double, std::milli>> delays;
  for (int i = 0; i < kRounds; ++i) {
    const std::string number = std::to_string(i);
    send("poison" + number, R"("poison")");
    send("nonsense" + number, "{nonsense");
    const auto sent = std::chrono::steady_clock::now();
    send("good" + number, "1");
    ASSERT_TRUE(eventually([&] { return when("good" + number).has_value(); }, 30s));
    delays.emplace_back(*when("good" + number) - sent);
  }
  door.stop();

  std::ranges::sort(delays);
  const auto median = delays[kRounds / 2].count();
  std::printf("%s: behind a poison message: median %.1f ms, longest %.1f ms\n", GetParam(), median,
              delays.back().count());
  EXPECT_LT(median, 100);
}

}  // namespace
}  // namespace recourse::tests
