// One kind of broker behind one face, for the suite that every adapter passes.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "message/open_source.h"
#include "tests/support/talking_process.h"

namespace recourse::tests {

using message::Fate;
using message::Message;
using message::Outgoing;
using message::Source;
using message::SourceSettings;
using message::Verdict;
using namespace std::chrono_literals;

inline message::Deadline in(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

inline std::string url_of(const char* variable) {
  const char* url = std::getenv(variable);
  return url == nullptr ? "" : url;
}

// The mock cluster, started by whoever first needs it.
inline TalkingProcess& mock_cluster() {
  static TalkingProcess process({KAFKA_MOCK_CLUSTER});
  return process;
}
inline const std::string& mock_url() {
  static const std::string url = "kafka://" + mock_cluster().read_line();
  return url;
}

inline const auto kBrokers =
    ::testing::Values("RabbitmqClassic", "RabbitmqQuorum", "Redis", "KafkaMock");

class MessageBroker : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    static std::atomic<int> count = 0;
    topic_ = "test." + std::to_string(::getpid()) + "." + std::to_string(++count);
    if (is("Kafka")) {
      (void)mock_url();
      (void)mock_cluster().ask("topic " + topic_ + " 1");
    }
    ASSERT_NE(settings().url, "") << "start the test servers with ./dev test";
    // Declares the queue.
    if (!is("Rabbitmq")) return;
    ASSERT_TRUE(open()->connect(in(20s)));
  }

  [[nodiscard]] bool is(std::string_view broker) const {
    return std::string_view(GetParam()).starts_with(broker);
  }

  [[nodiscard]] SourceSettings settings(const std::string& group = "billing") const {
    SourceSettings settings{.name = "shop", .url = url_, .topic = topic_, .group = group + topic_};
    if (url_.empty()) {
      settings.url = is("Rabbitmq") ? url_of("RECOURSE_TEST_RABBITMQ")
                     : is("Redis")  ? url_of("RECOURSE_TEST_REDIS")
                                    : mock_url();
    }
    // Kafka's brokers take no less than 6, and the mock cluster lets a group wait 3 for its
    // members.
    settings.heartbeat = is("Kafka") ? 6s : 2s;
    settings.reconnect_max = 500ms;
    settings.redis.claim_after = 30s;  // only the dead are slower than any test
    settings.rabbitmq.declare = true;
    settings.rabbitmq.queue_type =
        is("RabbitmqQuorum") ? message::QueueType::kQuorum : message::QueueType::kClassic;
    return settings;
  }

  std::unique_ptr<Source> open(const SourceSettings& with) {
    return message::open_source(with, log_).value();
  }
  std::unique_ptr<Source> open() { return open(settings()); }

  void publish(Source& source, int count, const std::string& prefix = "m") {
    std::vector<Outgoing> messages;
    for (int i = 0; i < count; ++i) {
      const std::string id = prefix + std::to_string(i);
      messages.push_back(
          {.topic = topic_, .key = "k", .id = id, .headers = {}, .body = "body of " + id});
    }
    const Result<> done = source.publish(messages, in(20s));
    ASSERT_TRUE(done) << done.error().message;
  }

  // Waits until so many have come, through errors that calling again mends.
  static std::vector<Message> receive(Source& source, std::size_t count,
                                      std::chrono::milliseconds time = 30s) {
    std::vector<Message> all;
    const auto end = in(time);
    while (all.size() < count && std::chrono::steady_clock::now() < end) {
      auto batch = source.receive(count - all.size(), std::min(end, in(1s)));
      if (!batch) continue;
      for (Message& message : *batch) all.push_back(std::move(message));
    }
    return all;
  }

  static std::vector<std::string> ids(const std::vector<Message>& messages) {
    std::vector<std::string> all;
    for (const Message& message : messages) all.push_back(message.id);
    return all;
  }

  static message::Settlement settle(Source& source, const std::vector<Message>& messages,
                                    Fate fate = Fate::kDone) {
    std::vector<Verdict> verdicts;
    for (const Message& message : messages) verdicts.push_back({message.ticket, fate});
    auto settled = source.settle(verdicts, in(10s));
    EXPECT_TRUE(settled) << (settled ? "" : settled.error().message);
    return settled.value_or(message::Settlement{});
  }

  MemoryLog log_;
  std::string topic_;
  std::string url_;  // of a server of the test's own
};

}  // namespace recourse::tests
