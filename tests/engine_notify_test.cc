// Channels, routers and filters that a user of the library brings, on every store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "recourse/engine.h"
#include "tests/engine_fixture.h"

namespace recourse::tests {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Inbox final : public NoticeChannel {
 public:
  explicit Inbox(std::string name) : name_(std::move(name)) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] bool supports(const Notice& notice) const override {
    return notice.kind != "unsupported";
  }
  Result<> send(const Notice& notice, std::stop_token stop) override {
    if (++sends_ <= failures) throw std::runtime_error("the inbox is shut");
    std::unique_lock lock(mutex_);
    opened_.wait(lock, stop, [this] { return is_open; });
    if (stop.stop_requested()) return fail(ErrorCode::kUnavailable, "stopped");
    notices_.push_back(notice);
    return {};
  }

  std::vector<Notice> notices() const {
    const std::lock_guard lock(mutex_);
    return notices_;
  }
  [[nodiscard]] int sends() const { return sends_; }

  int failures = 0;
  bool is_open = true;

 private:
  const std::string name_;
  std::atomic<int> sends_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable_any opened_;
  std::vector<Notice> notices_;
};

class EngineNotifies : public EngineOnStore {
 protected:
  EngineNotifies() {
    // By name: what a star stands for may be found only with the next look at all kinds.
    for (const char* kind :
         {"grant", "one", "both", "unsupported", "throws", "never", "later", "now"}) {
      engine_.handle_bytes(kind,
                           [](const Attempt&) { return dead_letter("no: password=hunter2"); });
    }
  }

  std::string kill(const std::string& kind, const SubmitOptions& options = {}) {
    std::string id = engine_.submit_bytes(kind, "{}", options).value();
    EXPECT_TRUE(reaches(id, "dead"));
    return id;
  }

  std::shared_ptr<Inbox> pager_ = std::make_shared<Inbox>("pager");
  std::shared_ptr<Inbox> mail_ = std::make_shared<Inbox>("mail");
};

// NOTE-2, NOTE-3
TEST_P(EngineNotifies, ADeadLetterIsToldToAChannelOfTheUsersOwn) {
  engine_.notify({.channels = {pager_}, .link = "https://ops.example.org/tasks/"});
  ASSERT_TRUE(engine_.start());

  const std::string id =
      kill("grant", {.max_retries = 3, .tenant = "t1", .search_keys = {{"member", "m-1"}}});

  ASSERT_TRUE(eventually([&] { return pager_->notices().size() == 1; }));
  const Notice notice = pager_->notices().front();
  EXPECT_EQ(notice.event, "dead_letter");
  EXPECT_EQ(notice.severity, Severity::kError);
  EXPECT_EQ(notice.kind, "grant");
  EXPECT_EQ(notice.task, id);
  EXPECT_EQ(notice.tenant, "t1");
  EXPECT_EQ(notice.max_retries, 3);
  EXPECT_EQ(notice.reminder, 0);
  EXPECT_EQ(notice.link, "https://ops.example.org/tasks/" + id);
  EXPECT_EQ(notice.attributes.at("key member"), "m-1");
  EXPECT_THAT(notice.error, AllOf(HasSubstr("no: "), Not(HasSubstr("hunter2"))));
  EXPECT_FALSE(notice.node.empty());
}

// NOTE-4
TEST_P(EngineNotifies, ARouterOfTheUsersOwnChoosesTheChannels) {
  engine_.notify(
      {.channels = {pager_, mail_}, .router = [](const Notice& notice) -> std::vector<std::string> {
         if (notice.kind == "throws") throw 7;
         if (notice.kind == "both") return {"mail", "pager"};
         return {"mail"};
       }});
  ASSERT_TRUE(engine_.start());

  (void)kill("one");
  (void)kill("both");
  (void)kill("unsupported");
  // Rather too many are told than nobody.
  (void)kill("throws");

  const auto kinds_of = [](const Inbox& inbox) {
    std::vector<std::string> kinds;
    for (const Notice& notice : inbox.notices()) kinds.push_back(notice.kind);
    return kinds;
  };
  EXPECT_TRUE(eventually([&] { return pager_->notices().size() == 2; }));
  EXPECT_TRUE(eventually([&] { return mail_->notices().size() == 3; }));
  EXPECT_THAT(kinds_of(*pager_), ::testing::UnorderedElementsAre("both", "throws"));
  EXPECT_THAT(kinds_of(*mail_), ::testing::UnorderedElementsAre("one", "both", "throws"));
}

// NOTE-4
TEST_P(EngineNotifies, AFilterOfTheUsersOwnHoldsBackDropsAndMayThrow) {
  std::atomic<bool> is_lunch = true;
  engine_.notify({.channels = {pager_}, .filters = {[&](const Notice& notice) {
                                          if (notice.kind == "never")
                                            return NoticeVerdict::drop("test data");
                                          if (notice.kind == "later" && is_lunch.exchange(false)) {
                                            return NoticeVerdict::hold_back(300ms, "lunch");
                                          }
                                          throw std::runtime_error("a filter's bug");
                                        }}});
  ASSERT_TRUE(engine_.start());

  (void)kill("never");
  (void)kill("later");
  (void)kill("now");

  ASSERT_TRUE(eventually([&] { return pager_->notices().size() == 2; }));
  EXPECT_THAT(pager_->notices(), ::testing::UnorderedElementsAre(Field(&Notice::kind, "later"),
                                                                 Field(&Notice::kind, "now")));
}

// NOTE-5
TEST_P(EngineNotifies, AChannelThatThrowsHoldsUpNobody) {
  mail_->failures = 1'000'000;
  engine_.notify({.channels = {pager_, mail_}});
  ASSERT_TRUE(engine_.start());

  const std::string id = kill("grant");

  ASSERT_TRUE(eventually([&] { return pager_->notices().size() == 1; }));
  EXPECT_EQ(pager_->notices().front().task, id);
  EXPECT_TRUE(eventually([&] { return mail_->sends() >= 1; }));
  EXPECT_THAT(mail_->notices(), IsEmpty());
}

// NOTE-5: a stop waits for what can still go out, and no longer.
TEST_P(EngineNotifies, AChannelThatHangsDoesNotHoldUpAStop) {
  pager_->is_open = false;
  engine_.notify({.channels = {pager_}});
  ASSERT_TRUE(engine_.start());
  (void)kill("grant");
  ASSERT_TRUE(eventually([&] { return pager_->sends() == 1; }));

  const auto begun = std::chrono::steady_clock::now();
  (void)engine_.stop(1s);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 8s);
  EXPECT_THAT(pager_->notices(), IsEmpty());
}

// NOTE-6
TEST_P(EngineNotifies, NobodyIsToldWhereNobodyAskedForIt) {
  ASSERT_TRUE(engine_.start());
  (void)kill("grant");
  EXPECT_EQ(engine_.stop().cut_off, 0);
}

INSTANTIATE_TEST_SUITE_P(Stores, EngineNotifies,
                         ::testing::Values("Memory", "Sqlite", "Postgres", "Mariadb"),
                         [](const auto& one) { return std::string(one.param); });

// What was not told before the process ended is told after.
TEST(EngineNotify, WhatEscalatedWhileNobodyWasToldIsToldByTheNextEngine) {
  const Place place("Sqlite");
  std::string id;
  {
    Engine engine = Engine::open({.store = place.url()}).value();
    engine.handle_bytes("work", [](const Attempt&) { return dead_letter("no"); });
    ASSERT_TRUE(engine.start());
    id = engine.submit_bytes("work", "{}").value();
    ASSERT_TRUE(eventually([&] { return engine.find(id).value().state == "dead"; }));
  }
  const auto pager = std::make_shared<Inbox>("pager");
  Engine engine = Engine::open({.store = place.url()}).value();
  engine.notify({.channels = {pager}});
  ASSERT_TRUE(engine.start());
  ASSERT_TRUE(eventually([&] { return !pager->notices().empty(); }));
  EXPECT_EQ(pager->notices().front().task, id);
  (void)engine.stop();
  EXPECT_THAT(pager->notices(), ElementsAre(Field(&Notice::reminder, 0)));
}

TEST(EngineNotify, WrongOptionsAreToldByStart) {
  const auto told = [](const NotificationOptions& options) {
    Engine engine = Engine::open({.store = "memory:"}).value();
    engine.notify(options);
    const Result<> started = engine.start();
    return started ? "nothing" : started.error().message;
  };
  const auto one = std::make_shared<Inbox>("pager");
  EXPECT_THAT(told({.channels = {one, std::make_shared<Inbox>("pager")}}),
              HasSubstr("two channels are called \"pager\""));
  EXPECT_THAT(told({.channels = {std::make_shared<Inbox>("log")}}), HasSubstr("rename it"));
  EXPECT_THAT(told({.channels = {std::make_shared<Inbox>("")}}), HasSubstr("no name"));
  EXPECT_THAT(told({.channels = {nullptr}}), HasSubstr("channels"));
  EXPECT_THAT(told({.filters = {nullptr}}), HasSubstr("filters"));
  EXPECT_THAT(told({.rate_threshold = 0}), HasSubstr("notify.rate_threshold"));
  EXPECT_THAT(told({.rate_window = 0s}), HasSubstr("notify.rate_window"));
  EXPECT_THAT(told({.remind_every = 10ms}), HasSubstr("notify.remind_every"));
  EXPECT_THAT(told({.mask_patterns = {"("}}), HasSubstr("("));
  EXPECT_EQ(told({}), "nothing");

  Engine engine = Engine::open({.store = "memory:"}).value();
  engine.notify({}).notify({});
  EXPECT_THAT(engine.start().error().message, HasSubstr("an engine has one"));
}

}  // namespace
}  // namespace recourse::tests
