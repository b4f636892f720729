// The guard door's keys: the source's words, and what follows from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/config/effective.h"
#include "app/config/guard_words.h"
#include "app/config/load_driver.h"

namespace recourse::app {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string guard_with(const std::string& more) {
  return "guards: {bill: {table: user_bill, status-field: status, success-value: SUCCESS, "
         "fail-value: FAIL, handle: 'http://a/handle'" +
         more + "}}";
}

// GUARD-1: the annotation of the source, word for word.
TEST(GuardKeys, TheSourcesOwnExampleReachesTheSettings) {
  const Config config = config_of(R"(
guards:
  user-bill:
    table: user_bill
    service-name: 异常处理示例
    user-field: user_id
    status-field: status
    success-value: SUCCESS
    fail-value: FAIL
    min-interval-seconds: 5
    timeout-seconds: 180
    max-retry-count: 2
    manual-remind-interval-seconds: 10
    manual-success-route: /api/admin/test/payment/manual-success
    handle: http://127.0.0.1:9000/handle
)");

  const guard::GuardSettings& guard = config.guards.at("user-bill").settings;
  EXPECT_EQ(guard.name, "user-bill");
  EXPECT_EQ(guard.table, "user_bill");
  EXPECT_EQ(guard.service_name, "异常处理示例");
  EXPECT_EQ(guard.id_field, "id");
  EXPECT_EQ(guard.user_field, "user_id");
  EXPECT_EQ(guard.status_field, "status");
  EXPECT_EQ(guard.success_value, "SUCCESS");
  EXPECT_EQ(guard.fail_value, "FAIL");
  EXPECT_EQ(guard.min_interval, 5s);
  EXPECT_EQ(guard.timeout_window, 180s);
  EXPECT_EQ(guard.max_retries, 2);
  EXPECT_EQ(guard.remind_every, 10s);
  EXPECT_EQ(guard.manual_success_route, "/api/admin/test/payment/manual-success");
  EXPECT_EQ(config.guards.at("user-bill").handle.url, "http://127.0.0.1:9000/handle");
}

TEST(GuardKeys, DurationsAndNumbersAreUnderstoodToo) {
  const Config config = config_of(R"(
guards:
  flags:
    table: flags
    status-field: ok
    success-value: 1
    fail-value: 0
    min-interval-seconds: 90s
    timeout-seconds: 2h
    attempt-timeout: 30s
    time-zone: Asia/Shanghai
    database: env:SHOP
    check: {url: "https://shop/check", signing: env:KEY, headers: {X-Source: recourse}}
    concurrency: 3
    breaker: {open-for: 5s}
)",
                                  {{"SHOP", "postgres://u:p@h/d"}, {"KEY", "0123456789abcdef"}});

  const GuardConfig& guard = config.guards.at("flags");
  EXPECT_EQ(guard.settings.success_value, "1");
  EXPECT_EQ(guard.settings.fail_value, "0");
  EXPECT_EQ(guard.settings.min_interval, 90s);
  EXPECT_EQ(guard.settings.timeout_window, 2h);
  EXPECT_EQ(guard.settings.attempt_timeout, 30s);
  EXPECT_EQ(guard.settings.time_zone, "Asia/Shanghai");
  EXPECT_EQ(guard.settings.service_name, "flags");
  EXPECT_EQ(guard.database.reveal(), "postgres://u:p@h/d");
  EXPECT_EQ(guard.check.url, "https://shop/check");
  EXPECT_EQ(guard.check.signing.size(), 1U);
  EXPECT_EQ(guard.lane.concurrency, 3);
  EXPECT_EQ(guard.lane.breaker.open_for, 5s);
}

// GUARD-6: the source's block says how often, and a guard may say otherwise.
TEST(GuardKeys, TheScanIntervalIsTheBlocksUnlessAGuardSaysOtherwise) {
  EXPECT_EQ(config_of(guard_with("")).guards.at("bill").settings.scan_every, 60s);
  EXPECT_EQ(config_of("abnormal: {retry: {scan-interval-seconds: 15}}\n" + guard_with(""))
                .guards.at("bill")
                .settings.scan_every,
            15s);
  EXPECT_EQ(config_of("abnormal: {retry: {scan-interval-seconds: 15}}\n" +
                      guard_with(", scan-interval-seconds: 5"))
                .guards.at("bill")
                .settings.scan_every,
            5s);
}

TEST(GuardKeys, WhatIsWrongIsSaidWithItsPlace) {
  EXPECT_THAT(problems_of(guard_with(", fail-valeu: X")),
              Contains(HasSubstr("did you mean `guards.bill.fail-value`?")));
  EXPECT_THAT(problems_of("guards: {bill: {table: t, handle: 'http://a/'}}"),
              AllOf(Contains(HasSubstr("guards.bill.status-field is missing")),
                    Contains(HasSubstr("guards.bill.success-value is missing")),
                    Contains(HasSubstr("guards.bill.fail-value is missing"))));
  EXPECT_THAT(problems_of("guards: {'a b': {}}"), Contains(HasSubstr("letters, digits")));
  EXPECT_THAT(problems_of(guard_with(", manual-success-route: no-slash")),
              Contains(HasSubstr("must be a path")));
  EXPECT_THAT(problems_of(guard_with(", time-zone: Nowhere/At_All")),
              Contains(HasSubstr("is no time zone")));
  EXPECT_THAT(problems_of(guard_with(", database: 'memory:'")),
              Contains(HasSubstr("a database that keeps tables")));
  EXPECT_THAT(problems_of(guard_with("") + "\nkinds: {guard.bill: {type: worker}}"),
              Contains(HasSubstr("there is a kind guard.bill already")));
  EXPECT_THAT(
      problems_of(guard_with(", database: 'mysql://u:secret@h/d'")),
      Contains(AllOf(HasSubstr("has a password in it"), testing::Not(HasSubstr("secret@")))));
}

// Who writes a file knows its keys, and not what a program calls them.
TEST(GuardKeys, AComplaintNamesTheFilesKeys) {
  EXPECT_THAT(problems_of(guard_with(", id-field: status")),
              Contains(AllOf(HasSubstr("status-field must be another column than id-field"),
                             testing::Not(HasSubstr("_field")))));
  EXPECT_EQ(in_words_of_file("guard.status_field must name a column of t, not \"x\"; it has id, "
                             "status_field; guard.time_zone must say in which zone"),
            "status-field must name a column of t, not \"x\"; it has id, status_field; time-zone "
            "must say in which zone")
      << "a column's name stays as it is";
}

TEST(GuardKeys, OneThatNobodyHandlesIsAllowedWithAWord) {
  EXPECT_THAT(
      problems_of("guards: {bill: {table: t, status-field: s, success-value: 1, fail-value: 0}}"),
      ElementsAre(AllOf(HasSubstr("warning"), HasSubstr("neither check nor handle"))));
}

// GUARD-12
TEST(GuardKeys, MailNeedsAServerThatSomeChannelNames) {
  const std::string block =
      "abnormal: {retry: {mail-from: a@example.com, mail-to: [ops@example.com]}}\n";

  EXPECT_THAT(problems_of(block + guard_with("")),
              ElementsAre(AllOf(HasSubstr("error: abnormal.retry.mail-to needs a mail server"),
                                HasSubstr("type: email"))));
}

// GUARD-12
TEST(GuardKeys, AMailServerAloneIsEnough) {
  const Config config = config_of(R"(
abnormal: {retry: {mail-from: a@example.com, mail-to: [ops@example.com]}}
notify: {channels: {mail: {type: email, server: "smtps://mail.example.com:465"}}}
)" + guard_with(""));

  EXPECT_EQ(config.notify.guard_channel, "mail");
  EXPECT_EQ(config.notify.channels.at("mail").from, "a@example.com");
  EXPECT_THAT(config.notify.channels.at("mail").to, ElementsAre("ops@example.com"));
}

// GUARD-12
TEST(GuardKeys, MailToOthersThanTheChannelsIsAChannelOfItsOwn) {
  const Config config = config_of(R"(
abnormal: {retry: {mail-to: [ops@example.com]}}
notify:
  channels:
    mail: {type: email, server: "smtps://m:465", from: me@example.com, to: [boss@example.com]}
)" + guard_with(""));

  EXPECT_EQ(config.notify.guard_channel, "abnormal-mail");
  EXPECT_THAT(config.notify.channels.at("mail").to, ElementsAre("boss@example.com"));
  EXPECT_THAT(config.notify.channels.at("abnormal-mail").to, ElementsAre("ops@example.com"));
  EXPECT_EQ(config.notify.channels.at("abnormal-mail").from, "me@example.com");
}

TEST(GuardKeys, TheEffectiveConfigurationShowsWhatWasSaidOfAGuard) {
  const std::string shown =
      to_text(settings_of(config_of(guard_with(", min-interval-seconds: 5")), Which::kChanged));

  EXPECT_THAT(shown, HasSubstr("guards.bill.table: user_bill"));
  EXPECT_THAT(shown, HasSubstr("guards.bill.min-interval-seconds: 5s"));
  EXPECT_THAT(shown, testing::Not(HasSubstr("scan-interval-seconds")));
}

}  // namespace
}  // namespace recourse::app
