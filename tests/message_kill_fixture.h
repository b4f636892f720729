// Consumers that are killed again and again, at a broker that is restarted meanwhile, and what they
// wrote down.
#pragma once

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "message/envelope.h"
#include "store/sqlite/sqlite_store.h"
#include "tests/message_fixture.h"
#include "tests/support/cut_proxy.h"
#include "tests/support/full_form.h"
#include "tests/support/place.h"
#include "tests/support/private_server.h"

namespace recourse::tests {

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
  std::set<std::string> given_up;
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
    if (what == "G") story_.given_up.insert(id);
  }

  std::string path_;
  std::streamoff at_ = 0;
  Story story_;
};

// Of which messages there is a record in the end.
enum class Recorded : std::uint8_t { kAll, kWhatFailed };

class MessageKilled : public MessageBroker {
 protected:
  void SetUp() override {
    if (is("Rabbitmq") && !is_full()) {
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
                      is_full() ? 600s : 60s);
  }
  // By message.
  std::map<std::string, std::vector<task::Task>> records(store::Reader& reader) {
    std::map<std::string, std::vector<task::Task>> all;
    std::optional<task::TaskId> after;
    do {
      auto page = reader.list({}, after, store::kPageRowsMax, 10s).value();
      for (task::Task& task : page.tasks) {
        // The library cleans up by tasks of its own.
        const auto id = task.spec.search_keys.find("message_id");
        if (id != task.spec.search_keys.end()) all[id->second].push_back(task);
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
  void check_record(store::Reader& reader, const std::vector<task::Task>& made,
                    const std::string& word) {
    ASSERT_EQ(made.size(), 1U) << made.front().spec.payload << " made several tasks";
    const task::Task& task = made.front();
    EXPECT_EQ(task.state, word == "never" ? task::State::kDead : task::State::kSucceeded)
        << task.spec.payload;
    if (word != "ok") check_history(reader, task, word == "never" ? 6 : 1);
  }
  // Each message, or each that failed at first, has one record that tells all of it.
  void check_records(Recorded which) {
    const SystemClock clock;
    const auto opened = store::sqlite::open(path("store.db"), clock).value();
    const auto all = records(opened->reader());
    std::size_t expected = 0;
    for (int i = 0; i < count_; ++i) {
      const std::string word = word_of(i);
      if (which == Recorded::kWhatFailed && word == "ok") continue;
      ++expected;
      const auto found = all.find("m" + std::to_string(i));
      ASSERT_NE(found, all.end()) << "message " << i << " is gone";
      check_record(opened->reader(), found->second, word);
    }
    EXPECT_EQ(all.size(), expected);
  }
  // Answers how many effects there were beyond one for each message. Only what a process did in the
  // moment before it was killed, and could not write down, is done again.
  std::size_t check_effects() {
    const Story& story = follower_.story();
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

  [[nodiscard]] std::size_t wanted() const {
    return static_cast<std::size_t>(count_ - count_ / 100);
  }
  // Publishes, consumes, kills and restarts; the consumer is given what every one is told, after
  // its own words.
  void consume_all(std::vector<std::string> command) {
    publish_all();
    const std::string ledger = path("ledger");
    for (const std::string& word :
         {path("store.db"), ledger, settings().url, topic_, settings().group}) {
      command.push_back(word);
    }
    ConsumerProcess consumer(std::move(command));
    const auto begun = std::chrono::steady_clock::now();
    consumer.start();
    for (int i = 1; i <= kills_; ++i) {
      const auto part = static_cast<std::size_t>(i);
      ASSERT_TRUE(is_done(wanted() * part / static_cast<std::size_t>(kills_ + 1)));
      kill(consumer);
      if (i <= 2) restart_broker();
    }
    ASSERT_TRUE(is_done(wanted()));
    const auto hopeless = static_cast<std::size_t>(count_ / 100);
    EXPECT_TRUE(eventually([&] { return follower_.story().given_up.size() >= hopeless; }, 60s));
    // The last outcomes and verdicts are under way.
    std::this_thread::sleep_for(500ms);
    EXPECT_EQ(consumer.end(SIGTERM), 0) << "it stops cleanly";
    took_ = std::chrono::steady_clock::now() - begun;
    EXPECT_EQ(follower_.story().effects.size(), wanted());
    // All of them are acknowledged, too.
    EXPECT_THAT(ids(receive(*open(), 1, is("Kafka") ? 4s : 2s)), ::testing::IsEmpty());
  }
  void report(std::size_t repeats) {
    RecordProperty("repeats", static_cast<int>(repeats));
    RecordProperty("seconds", std::to_string(took_.count()));
    std::printf("%s: %d messages, %d kills, %zu attempts, %zu done twice, %.1f s\n", GetParam(),
                count_, kills_, follower_.story().starts, repeats, took_.count());
  }

  // How long an outcome may be on its way into the store of a busy machine.
  static constexpr auto kWindow = 3s;
  static constexpr int kPublished = 500;
  const int count_ = is_full() ? 100'000 : 2'000;
  // A consumer of Kafka's that was killed is missed for seconds.
  const int kills_ = is_full() ? 10 : is("Kafka") ? 2 : 3;
  std::map<int, std::int64_t> killed_at_;  // by process
  int kill_count_ = 0;
  std::chrono::duration<double> took_{};
  TemporaryDirectory folder_;
  Follower follower_{path("ledger")};
  std::unique_ptr<PrivateServer> server_;
  std::unique_ptr<CutProxy> proxy_;
};

}  // namespace recourse::tests
