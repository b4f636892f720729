#include "notify/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recourse::notify {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Notice notice_about(Event event, std::string kind, std::string tenant = "acme") {
  return {.event = event,
          .kind = task::Kind(std::move(kind)),
          .tenant = task::Tenant(std::move(tenant))};
}

RouterSettings by_rules(RouteMode mode) {
  return {.mode = mode,
          .rules = {{.name = "payments", .kinds = {"pay.*"}, .channels = {"pager", "chat"}},
                    {.name = "acme", .tenants = {"acme"}, .channels = {"chat", "mail"}},
                    {.name = "silent", .events = {Event::kBreakerClosed}},
                    {.name = "loud", .from = Severity::kCritical, .channels = {"pager"}}},
          .defaults = {"log"}};
}

// NOTE-4
TEST(RuleRouter, TakesTheFirstRuleThatMatches) {
  const RuleRouter router(by_rules(RouteMode::kFirst));

  EXPECT_THAT(router.route(notice_about(Event::kDeadLetter, "pay.card")),
              ElementsAre("pager", "chat"));
  EXPECT_THAT(router.route(notice_about(Event::kDeadLetter, "mail")), ElementsAre("chat", "mail"));
  EXPECT_THAT(router.route(notice_about(Event::kEngineError, "", "other")), ElementsAre("pager"));
  EXPECT_THAT(router.route(notice_about(Event::kDeadLetter, "mail", "other")), ElementsAre("log"));
}

TEST(RuleRouter, TakesAllRulesThatMatchAndNamesEachChannelOnce) {
  const RuleRouter router(by_rules(RouteMode::kAll));

  EXPECT_THAT(router.route(notice_about(Event::kEngineError, "pay.card")),
              ElementsAre("pager", "chat", "mail"));
}

TEST(RuleRouter, ARuleWithoutChannelsTellsNobody) {
  const RuleRouter router(by_rules(RouteMode::kFirst));

  EXPECT_THAT(router.route(notice_about(Event::kBreakerClosed, "mail", "other")), IsEmpty());
}

TEST(RuleRouter, AnUnknownChannelIsRefusedWithItsRuleAndThoseThatAreKnown) {
  const std::vector<std::string> known{"log", "chat", "mail"};

  const Result<> in_rule = validate(by_rules(RouteMode::kFirst), known);
  ASSERT_FALSE(in_rule);
  EXPECT_THAT(in_rule.error().message, HasSubstr("\"payments\""));
  EXPECT_THAT(in_rule.error().message, HasSubstr("\"pager\""));
  EXPECT_THAT(in_rule.error().message, HasSubstr("log, chat, mail"));

  const Result<> unnamed = validate({.rules = {{.channels = {"x"}}}}, known);
  EXPECT_THAT(unnamed.error().message, HasSubstr("router.rules[0]"));
  const Result<> defaults = validate({.defaults = {"x"}}, known);
  EXPECT_THAT(defaults.error().message, HasSubstr("router.defaults"));
}

}  // namespace
}  // namespace recourse::notify
