// Notifications as the server has them: when they begin, and what is left behind when they end.
#include "app/notifications.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <thread>

#include "tests/case_fixture.h"
#include "tests/support/temporary_directory.h"

namespace recourse::app {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Keeps whoever writes a notification until it is opened: a channel that is slow.
class SlowLog final : public Log {
 public:
  void write(LogLevel level, std::string_view event, std::span<const LogField> fields) override {
    std::unique_lock lock(mutex_);
    if (event == "notification_failed") failure_ = to_line(level, event, fields);
    if (event != "notification") return;
    ++written_;
    changed_.wait(lock, [this] { return open_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] int written() const {
    const std::lock_guard lock(mutex_);
    return written_;
  }
  [[nodiscard]] std::string failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int written_ = 0;
  std::string failure_;
  bool open_ = false;
};

class NotificationsTest : public CaseFixture {
 protected:
  NotificationsTest() {
    NotifyConfig config;
    config.settings.router.defaults = {"log"};
    notifications_ = Notifications::make(config, {.opened = *opened_,
                                                  .client = *client_,
                                                  .ids = source_,
                                                  .clock = clock_,
                                                  .log = log_,
                                                  .sayer = {.node = "n1"}})
                         .value();
  }

  static engine::Happening trouble() {
    return engine::NodeHappened{.event = engine::NodeEvent::kStoreFailed, .detail = "down"};
  }

  SlowLog log_;
  UlidSource source_{clock_, 3};
  std::unique_ptr<http::Client> client_ = *http::Client::open({.connections_max = 1});
  std::unique_ptr<Notifications> notifications_;
};

// NOTE-6

TEST_F(NotificationsTest, WhatIsDeliveredWhileItStopsIsNotToldAgain) {
  const task::TaskId task = escalate();
  notifications_->begin();
  ASSERT_TRUE(eventually([&] { return log_.written() == 1; }));
  std::thread stopping([this] { notifications_->stop(kWithin); });
  // Nothing new is sent once it has begun to stop.
  EXPECT_TRUE(eventually([&] {
    notifications_->happened(trouble());
    return notifications_->counts().failed > 0;
  }));
  EXPECT_EQ(case_of(task).reminders, 0);
  log_.open();
  stopping.join();

  EXPECT_EQ(case_of(task).reminders, 1);
  EXPECT_GT(*case_of(task).remind_at, clock_.now() + 59min);
}

TEST_F(NotificationsTest, AServerThatCannotStartHasToldNobody) {
  log_.open();
  const task::TaskId task = escalate();
  const store::Case before = case_of(task);
  for (int i = 0; i < 200; ++i) notifications_->happened(trouble());
  notifications_->stop(kWithin);
  EXPECT_EQ(notifications_->counts().fired, 0U);
  notifications_.reset();
  EXPECT_EQ(log_.written(), 0);
  EXPECT_EQ(case_of(task), before);
}

TEST_F(NotificationsTest, WhatHappenedBeforeItServesIsToldThen) {
  log_.open();
  notifications_->happened(trouble());
  EXPECT_EQ(notifications_->counts().fired, 0U);
  notifications_->begin();
  EXPECT_EQ(notifications_->counts().fired, 1U);
  notifications_->happened(trouble());
  EXPECT_EQ(notifications_->counts().fired, 2U);
}

// NOTE-3, CFG-2: by the names that people wrote.

std::string refusal_of(const NotifyConfig& config) {
  const Result<> checked = check_notify(config);
  return checked ? "" : checked.error().message;
}

TEST(CheckNotify, NamesTheKeyThatIsWrong) {
  NotifyConfig config;
  EXPECT_EQ(refusal_of(config), "");
  config.channels["ops"] = {.type = ChannelType::kEmail,
                            .server = "http://mail",
                            .user = "me",
                            .from = "a@example.com",
                            .to = {"b@example.com"}};
  EXPECT_THAT(refusal_of(config), StartsWith("notify.channels.ops.server "));
  EXPECT_THAT(refusal_of(config), HasSubstr("; notify.channels.ops.user and password"));
  config.channels["ops"] = {.type = ChannelType::kSlack, .url = Secret("env:X", "ftp://x")};
  EXPECT_THAT(refusal_of(config), StartsWith("notify.channels.ops.url "));
  config.channels.clear();
  config.settings.router.defaults = {"ops"};
  EXPECT_THAT(refusal_of(config), StartsWith("notify.defaults names the channel"));
  config.settings.router.defaults = {"log"};
  config.settings.dispatch.threads_core = 5;
  EXPECT_THAT(refusal_of(config), StartsWith("retry.notify.async.core-pool-size must be"));
}

TEST(CheckNotify, ReadsTheAuthoritiesThatAChannelTrusts) {
  const tests::TemporaryDirectory folder;
  const std::string file = (folder.path() / "ca.pem").string();
  NotifyConfig config;
  ChannelConfig& channel = config.channels["ops"];
  channel = {.type = ChannelType::kSlack, .authorities = file, .url = Secret("env:X", "https://x")};
  EXPECT_THAT(refusal_of(config), StartsWith("notify.channels.ops.authorities names the file"));
  std::ofstream(file) << "nothing";
  EXPECT_THAT(refusal_of(config), HasSubstr("has no certificate in it"));
  std::ofstream(file) << "-----BEGIN CERTIFICATE-----\n";
  EXPECT_EQ(refusal_of(config), "");
  channel.authorities = folder.path().string();
  EXPECT_THAT(refusal_of(config), HasSubstr("cannot be read"));
  channel.authorities.clear();
  channel.reach.allowed = {"10.0.0.0/8"};
  EXPECT_THAT(refusal_of(config), StartsWith("notify.channels.ops.reach.allowed says nothing"));
}

// It is stopped by the address it would go to, before anything is sent.
TEST_F(NotificationsTest, AChannelThatMayNotGoThereDoesNot) {
  log_.open();
  NotifyConfig config;
  config.channels["ops"] = {.type = ChannelType::kWebhook,
                            .reach = {.public_only = true},
                            .url = Secret("env:X", "http://127.0.0.1:9/")};
  config.settings.router.defaults = {"ops"};
  auto bounded = Notifications::make(config, {.opened = *opened_,
                                              .client = *client_,
                                              .ids = source_,
                                              .clock = clock_,
                                              .log = log_,
                                              .sayer = {.node = "n1"}})
                     .value();
  bounded->begin();
  bounded->happened(trouble());
  EXPECT_TRUE(eventually([&] { return bounded->counts().failed == 1; }));
  EXPECT_THAT(log_.failure(), HasSubstr("127.0.0.1"));
}

// A larger value than the validator takes would pass `config check` and fail at the start.
TEST(CheckNotify, WhatTheConfigurationTakesIsTaken) {
  NotifyConfig config;
  config.settings.dispatch = {.threads_core = notify::kThreadsMax,
                              .threads_max = notify::kThreadsMax,
                              .keep_alive = notify::kKeepAliveMax,
                              .queue_max = notify::kQueueMax};
  config.settings.rate_limit = {.window = notify::kWindowMax, .threshold = notify::kThresholdMax};
  EXPECT_EQ(refusal_of(config), "");
}

}  // namespace
}  // namespace recourse::app
