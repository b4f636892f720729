#include "notify/channels/webhook_channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stop_token>
#include <thread>

#include "notify/channels/http_fixture.h"

namespace recourse::notify {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

class WebhookChannelTest : public HttpChannelTest {
 protected:
  Result<> send(WebhookSettings settings, std::stop_token stop = {}) {
    auto channel = make_webhook_channel("hook", std::move(settings), *client_, clock_);
    if (!channel) return fail(channel.error());
    return (*channel)->send(full_notice(), std::move(stop));
  }
};

// NOTE-7
TEST_F(WebhookChannelTest, PostsTheNoticeSignedUnderItsOwnId) {
  const auto key = http::WebhookKey::parse(kSecret).value();

  ASSERT_TRUE(send({.endpoint = endpoint(), .headers = {{"Authorization", "x"}}, .keys = {key}}));

  EXPECT_EQ(seen().method, "POST");
  EXPECT_EQ(seen().headers.find("content-type"), "application/json");
  EXPECT_EQ(seen().headers.find("authorization"), "x");
  EXPECT_EQ(seen().headers.find("webhook-id"), "ntc_01J");
  EXPECT_TRUE(http::verify_webhook(
      std::span(&key, 1), {.id = "ntc_01J", .timestamp = "1700000000", .body = seen().body},
      *seen().headers.find("webhook-signature"), clock_.now()));
  const auto message = body();
  EXPECT_EQ(message.at("type"), "recourse.notice.max_retry_reached");
  EXPECT_EQ(message.at("timestamp"), "2023-11-14T22:13:20Z");
  const auto& data = message.at("data").as_object();
  EXPECT_EQ(data.at("task"), "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV");
  EXPECT_EQ(data.at("last_error"), boost::json::string_view(full_notice().last_error));
  EXPECT_EQ(data.at("more"), 412);
  EXPECT_EQ(data.at("attributes").at("shard"), "7");
}

// CloudEvents 1.0: the required attributes, and a data content type that fits.
TEST_F(WebhookChannelTest, WrapsItInACloudEventWhereAsked) {
  ASSERT_TRUE(
      send({.endpoint = endpoint(), .cloud_events = true, .source = "https://recourse.example"}));

  EXPECT_THAT(std::string(*seen().headers.find("content-type")),
              testing::StartsWith("application/cloudevents+json"));
  EXPECT_FALSE(seen().headers.find("webhook-signature"));
  const auto event = body();
  EXPECT_EQ(event.at("specversion"), "1.0");
  EXPECT_EQ(event.at("id"), "ntc_01J");
  EXPECT_EQ(event.at("source"), "https://recourse.example");
  EXPECT_EQ(event.at("type"), "recourse.notice.max_retry_reached");
  EXPECT_EQ(event.at("subject"), "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV");
  EXPECT_EQ(event.at("time"), "2023-11-14T22:13:20Z");
  EXPECT_EQ(event.at("datacontenttype"), "application/json");
  EXPECT_TRUE(event.at("data").is_object());
}

TEST_F(WebhookChannelTest, SaysWhatWasAnsweredAndWhetherAnotherTryMayHelp) {
  answer(503, "down for\nmaintenance, token=abc");
  const Result<> down = send({.endpoint = endpoint()});
  EXPECT_EQ(down.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(down.error().message, "it answered 503: down for maintenance, token=***");

  answer(404);
  EXPECT_EQ(send({.endpoint = endpoint()}).error().code, ErrorCode::kInvalid);
  answer(429);
  EXPECT_EQ(send({.endpoint = endpoint()}).error().code, ErrorCode::kUnavailable);
  answer(302);
  EXPECT_EQ(send({.endpoint = endpoint()}).error().code, ErrorCode::kInvalid);
}

TEST_F(WebhookChannelTest, DoesNotWaitForAServerThatHangs) {
  hang();
  Endpoint impatient = endpoint("/hook?token=secret");
  impatient.timeout = 20ms;

  const Result<> late = send({.endpoint = impatient});

  EXPECT_EQ(late.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(late.error().message, HasSubstr("no answer within"));
  EXPECT_THAT(late.error().message, Not(HasSubstr("secret")));
}

TEST_F(WebhookChannelTest, EndsWhenItIsTold) {
  hang();
  std::stop_source stop;
  std::jthread stopper([&] {
    server_.wait_for_open_requests(1);
    stop.request_stop();
  });

  EXPECT_EQ(send({.endpoint = endpoint()}, stop.get_token()).error().code, ErrorCode::kUnavailable);
}

TEST_F(WebhookChannelTest, SaysWhereNobodyListens) {
  const Result<> nobody = send({.endpoint = {.url = "http://127.0.0.1:1/hook/secret"}});
  EXPECT_EQ(nobody.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(nobody.error().message, HasSubstr("127.0.0.1:1"));
  EXPECT_THAT(nobody.error().message, Not(HasSubstr("secret")));
  EXPECT_EQ(send({.endpoint = {.url = server_.url(), .reach = {.public_only = true}}}).error().code,
            ErrorCode::kInvalid);
}

TEST_F(WebhookChannelTest, RefusesSettingsThatCannotWork) {
  for (const char* url : {"", "ftp://x", "not a url"}) {
    EXPECT_FALSE(validate(WebhookSettings{.endpoint = {.url = url}})) << url;
  }
  EXPECT_FALSE(validate(WebhookSettings{.endpoint = endpoint(), .headers = {{"Webhook-Id", "x"}}}));
  EXPECT_FALSE(validate(WebhookSettings{.endpoint = endpoint(), .source = ""}));
}

}  // namespace
}  // namespace recourse::notify
