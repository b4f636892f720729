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
#include "tests/support/cut_proxy.h"
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

struct Effect {
  int process = 0;
  std::int64_t at = 0;
};

// What the processes wrote down.
struct Story {
  std::map<std::string, std::vector<Effect>> effects;  // by message
  std::map<std::string, int> failures;
  std::size_t starts = 0;
};

// Reads on from where it was.
class Follower {
 public:
  explicit Follower(std::string path) : path_(std::move(path)) {}

  const Story& story() {
    std::ifstream file(path_);
    file.seekg(at_);
    for (std::string line; std::getline(file, line) && !file.eof();) {
      at_ += static_cast<std::streamoff>(line.size()) + 1;
      take(line);
    }
    return story_;
  }

 private:
  void take(const std::string& line) {
    std::istringstream words(line);
    std::string what;
    std::string id;
    Effect effect;
    words >> what >> id >> effect.process >> effect.at;
    if (what == "S") ++story_.starts;
    if (what == "E") story_.effects[id].push_back(effect);
    if (what == "F") ++story_.failures[id];
  }

  std::string path_;
  std::streamoff at_ = 0;
  Story story_;
};

class MessageKilled : public MessageBroker {
 protected:
  void SetUp() override {
    if (is("Rabbitmq") && !full()) {
      stand_before(url_of("RECOURSE_TEST_RABBITMQ"));
    } else if (!is("Kafka")) {
      server_ =
          std::make_unique<PrivateServer>(is("Redis") ? ServerKind::kRedis : ServerKind::kRabbitmq);
      url_ = server_->url();
    }
    MessageBroker::SetUp();
  }

  // RabbitMQ takes half a minute to come back on a busy machine: in the short form the way to it is
  // cut, in the full one it is restarted itself.
  void stand_before(const std::string& url) {
    const std::size_t port = url.rfind(':') + 1;
    ASSERT_NE(port, 0U) << "start the test servers with ./dev test";
    proxy_ = std::make_unique<CutProxy>(std::atoi(url.c_str() + port));
    url_ = url.substr(0, port) + std::to_string(proxy_->port()) + "/";
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
    if (proxy_) {
      proxy_->cut();
      std::this_thread::sleep_for(300ms);
      proxy_->mend();
      return;
    }
    if (is("Kafka")) (void)mock_cluster().ask("down");
    // RabbitMQ's classic queues are asked to stop: see message_trouble_test.cc.
    if (is("Rabbitmq")) server_->stop();
    if (is("Redis")) server_->kill();
    server_ ? server_->start() : (void)mock_cluster().ask("up");
  }
  bool is_done(std::size_t count) {
    return eventually([&] { return follower_.story().effects.size() >= count; },
                      full() ? 600s : 60s);
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
  // Answers how many effects there were beyond one for each message. Only what a process did in the
  // moment before it was killed, and could not write down, is done again.
  std::size_t check_effects(const Story& story) {
    std::size_t repeats = 0;
    std::int64_t longest = 0;
    for (const auto& [id, effects] : story.effects) {
      for (std::size_t i = 0; i + 1 < effects.size(); ++i) {
        ++repeats;
        const auto killed = killed_at_.find(effects[i].process);
        if (killed == killed_at_.end() || effects[i + 1].process == effects[i].process) {
          ADD_FAILURE() << id << " was done twice by one process, or after a clean stop";
          continue;
        }
        longest = std::max(longest, killed->second - effects[i].at);
      }
    }
    EXPECT_LT(longest, std::chrono::microseconds(kWindow).count());
    std::printf("%s: done again was what was done up to %.0f ms before a kill\n", GetParam(),
                static_cast<double>(longest) / 1'000);
    return repeats;
  }
  void kill(ConsumerProcess& consumer) {
    const SystemClock clock;
    consumer.end(SIGKILL);
    killed_at_[++kill_count_] = clock.since_boot().time_since_epoch().count();
    consumer.start();
  }

  // How long an outcome may be on its way into the store of a busy machine.
  static constexpr auto kWindow = 3s;
  static constexpr int kPublished = 500;
  const int count_ = full() ? 100'000 : 2'000;
  // A consumer of Kafka's that was killed is missed for seconds.
  const int kills_ = full() ? 10 : is("Kafka") ? 2 : 3;
  std::map<int, std::int64_t> killed_at_;  // by process
  int kill_count_ = 0;
  TemporaryDirectory folder_;
  Follower follower_{path("ledger")};
  std::unique_ptr<PrivateServer> server_;
  std::unique_ptr<CutProxy> proxy_;
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
    kill(consumer);
    if (i <= 2) restart_broker();
  }
  ASSERT_TRUE(is_done(wanted));
  const auto is_over = [&] {
    int never = 0;
    for (const auto& [id, failures] : follower_.story().failures) never += failures >= 6 ? 1 : 0;
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
  const Story& story = follower_.story();
  const std::size_t repeats = check_effects(story);
  EXPECT_EQ(story.effects.size(), wanted);
  // All of them are acknowledged, too.
  EXPECT_THAT(ids(receive(*open(), 1, is("Kafka") ? 4s : 2s)), IsEmpty());
  RecordProperty("repeats", static_cast<int>(repeats));
  RecordProperty("seconds", std::to_string(took.count()));
  std::printf("%s: %d messages, %d kills, %zu attempts, %zu done twice, %.1f s\n", GetParam(),
              count_, kills_, story.starts, repeats, took.count());
}

class MessagePoison : public MessageBroker {
 protected:
  [[nodiscard]] std::string path(const char* name) const {
    return (folder_.path() / name).string();
  }

  TemporaryDirectory folder_;
};
INSTANTIATE_TEST_SUITE_P(Brokers, MessagePoison,
                         ::testing::Values("RabbitmqClassic", "Redis", "KafkaMock"),
                         [](const auto& one) { return one.param; });

// A message that fails for ever, and one that does not parse, hold up nobody.
TEST_P(MessagePoison, APoisonMessageDoesNotDelayTheOnesBehindIt) {
  const SystemClock clock;
  Mutex mutex;
  std::map<std::string, std::chrono::steady_clock::time_point> ran;
  MessageDoor door(store::sqlite::open(path("store.db"), clock).value(), log_);
  door.handle(MessageDoor::handler_of([&](const task::Task& task) -> engine::AttemptResult {
    {
      const MutexLock lock(mutex);
      ran.emplace(task.spec.search_keys.at("message_id"), std::chrono::steady_clock::now());
    }
    if (task.spec.payload != R"("poison")") return engine::Succeeded{};
    std::this_thread::sleep_for(300ms);
    return engine::Failed{policy::Declined{"connection refused"}};
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
  // From when it is sent to when its handler begins; in milliseconds.
  const auto delay_of = [&](const std::string& id, const std::vector<std::string>& before) {
    std::vector<Outgoing> messages;
    for (const std::string& body : before) {
      messages.push_back({.topic = topic_, .key = "k", .id = id + body, .body = body});
    }
    messages.push_back({.topic = topic_, .key = "k", .id = id, .body = "1"});
    const auto sent = std::chrono::steady_clock::now();
    EXPECT_TRUE(publisher->publish(messages, in(20s)));
    EXPECT_TRUE(eventually([&] { return when(id).has_value(); }, 30s));
    return std::chrono::duration<double, std::milli>(when(id).value_or(sent) - sent).count();
  };
  (void)delay_of("first", {});

  std::vector<double> alone;
  std::vector<double> behind;
  const std::size_t rounds = is("Kafka") ? 5 : 11;
  for (std::size_t i = 0; i < rounds; ++i) {
    alone.push_back(delay_of("alone" + std::to_string(i), {}));
    behind.push_back(delay_of("behind" + std::to_string(i), {R"("poison")", "{nonsense"}));
  }
  door.stop();

  std::ranges::sort(alone);
  std::ranges::sort(behind);
  std::printf("%s: median %.1f ms, behind a poison message %.1f ms\n", GetParam(),
              alone[rounds / 2], behind[rounds / 2]);
  EXPECT_LT(behind[rounds / 2] - alone[rounds / 2], 100);
}

}  // namespace
}  // namespace recourse::tests
