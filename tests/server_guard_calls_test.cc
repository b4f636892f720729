// How a guard of the server calls the service that mends its rows.
#include <gmock/gmock.h>

#include "http/webhook_signature.h"
#include "tests/server_guard_fixture.h"

namespace recourse::app {
namespace {

using testing::SizeIs;

class ApiGuardCalls : public ApiGuard {};

TEST_P(ApiGuardCalls, TheServiceIsToldWhichRowUnderASignature) {
  shop_.add_row(7);
  start_guard();

  mark(7);

  ASSERT_TRUE(becomes(7, "2001"));
  const auto calls = seen();
  ASSERT_THAT(calls, SizeIs(3));
  const http::TestServer::Seen& handle = calls.at(1);
  EXPECT_EQ(boost::json::parse(handle.body),
            (value{{"guard", "user-bill"}, {"table", "user_bill"}, {"id", 7}}));
  EXPECT_EQ(handle.headers.find("Recourse-Kind"), "guard.user-bill");
  EXPECT_TRUE(handle.headers.find("Recourse-Attempt"));
  const std::vector keys{*http::WebhookKey::parse(kSecrets.at("SIGNING"))};
  const auto header = [&](std::string_view name) {
    return std::string(handle.headers.find(name).value_or(""));
  };
  EXPECT_TRUE(http::verify_webhook(keys,
                                   {.id = header(http::kWebhookId),
                                    .timestamp = header(http::kWebhookTimestamp),
                                    .body = handle.body},
                                   header(http::kWebhookSignature), SystemClock().now()));
}

TEST_P(ApiGuardCalls, ACheckThatIsNotAnsweredRunsNothing) {
  shop_.add_row(7);
  check_status_ = 500;
  start_guard("    max-retry-count: 0\n");

  mark(7);

  ASSERT_TRUE(becomes(7, "4001"));
  for (const auto& call : seen()) EXPECT_EQ(call.target, "/check") << "it may be well already";
}

TEST_P(ApiGuardCalls, AServiceThatHangsIsCutOffWithTheRunsTime) {
  shop_.add_row(7);
  http::TestServer silent(
      [](const http::TestServer::Seen&) { return http::TestServer::silence(); });
  start("  work: {type: worker}\n",
        "guards: {user-bill: {table: user_bill, status-field: status, success-value: SUCCESS, "
        "fail-value: FAIL, min-interval-seconds: 1, scan-interval-seconds: 1, max-retry-count: 0, "
        "attempt-timeout: 1s, database: env:SHOP, handle: '" +
            silent.url("/") + "'}}\n");

  mark(7);

  EXPECT_TRUE(becomes(7, "4001"));
  EXPECT_EQ(shop_.cell("status", 7), "FAIL");
}

TEST_P(ApiGuardCalls, WithoutACheckTheServicesWordCountsOrTheRowsOwnStatus) {
  for (const int id : {7, 8}) shop_.add_row(id);
  http::TestServer service([this](const http::TestServer::Seen& asked) {
    const bool is_first = boost::json::parse(asked.body).at("id") == 7;
    if (!is_first) shop_.run("UPDATE user_bill SET status = 'SUCCESS' WHERE id = 8");
    return http::TestServer::Reply{
        http::TestServer::answer(200, is_first ? R"({"success":true})" : "")};
  });
  start("  work: {type: worker}\n",
        "guards: {user-bill: {table: user_bill, status-field: status, success-value: SUCCESS, "
        "fail-value: FAIL, min-interval-seconds: 1, scan-interval-seconds: 1, database: env:SHOP, "
        "concurrency: 1, handle: '" +
            service.url("/") + "'}}\n");

  mark(7);
  mark(8);

  EXPECT_TRUE(becomes(7, "2001"));
  EXPECT_TRUE(becomes(8, "2001"));
  EXPECT_EQ(shop_.cell("status", 7), "SUCCESS");
}

INSTANTIATE_TEST_SUITE_P(Shops, ApiGuardCalls, testing::ValuesIn(kShops), store_name);

}  // namespace
}  // namespace recourse::app
