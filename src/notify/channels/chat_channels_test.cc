// The vendors' documented formats: what a message must hold, how it is signed, what an answer
// means.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <boost/json.hpp>
#include <functional>

#include "base/text.h"
#include "notify/channels/dingtalk.h"
#include "notify/channels/feishu.h"
#include "notify/channels/http_fixture.h"
#include "notify/channels/slack.h"
#include "notify/channels/wecom.h"
#include "notify/masking.h"

namespace recourse::notify {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

namespace json = boost::json;

constexpr TimePoint kSentAt{1'700'000'000s};

std::string text_at(const json::value& value, std::string_view pointer) {
  return json::value_to<std::string>(value.at_pointer(pointer));
}

// As much of everything as a notice can hold, in characters of three bytes.
Notice longest_notice() {
  std::string wide;
  for (int i = 0; i < 5'000; ++i) wide += "\u5931";
  Notice notice = full_notice();
  notice.kind = task::Kind(wide);
  notice.last_error = wide;
  for (int i = 0; i < 40; ++i) notice.attributes[std::to_string(i) + wide] = wide;
  return fit_to_send(notice, Masker::make({}).value());
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// NOTE-7. docs.slack.dev, Block Kit: header, section with fields, text objects.
TEST(Slack, MessageIsBlocksWithATextForNotifications) {
  const json::value message = slack_message(full_notice());

  EXPECT_THAT(text_at(message, "/text"), HasSubstr("Retries used up: grant-points"));
  EXPECT_EQ(text_at(message, "/blocks/0/type"), "header");
  EXPECT_EQ(text_at(message, "/blocks/0/text/type"), "plain_text");
  EXPECT_EQ(text_at(message, "/blocks/1/type"), "section");
  EXPECT_EQ(text_at(message, "/blocks/1/fields/0/text"), "Kind\ngrant-points");
  EXPECT_EQ(text_at(message, "/blocks/2/text/type"), "plain_text");
  EXPECT_EQ(text_at(message, "/blocks/2/text/text"), full_notice().last_error);
  EXPECT_EQ(
      text_at(message, "/blocks/4/text/text"),
      "<https://recourse.example/tasks/tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV?a=1&amp;b=2|Open the task>");
}

TEST(Slack, MessageKeepsToItsLimits) {
  const json::value message = slack_message(longest_notice());
  EXPECT_LE(characters(text_at(message, "/blocks/0/text/text")), 150U);
  EXPECT_EQ(message.at_pointer("/blocks/1/fields").as_array().size(), 10U);
  for (const json::value& field : message.at_pointer("/blocks/1/fields").as_array()) {
    EXPECT_LE(characters(text_at(field, "/text")), 2'000U);
  }
  EXPECT_LE(characters(text_at(message, "/blocks/2/text/text")), 3'000U);
}

// open.feishu.cn, custom robots: msg_type, card, timestamp and sign. The signature is Python's:
//   base64.b64encode(hmac.new(f"{timestamp}\n{secret}".encode(), b"", hashlib.sha256).digest())
TEST(Feishu, MessageIsASignedCardOfPlainTexts) {
  const json::value message = feishu_message(full_notice(), "s3cret", kSentAt);

  EXPECT_EQ(text_at(message, "/msg_type"), "interactive");
  EXPECT_EQ(text_at(message, "/timestamp"), "1700000000");
  EXPECT_EQ(text_at(message, "/sign"), "IX3eHI0/v/Td7jqJ0ynSEK3Dq5JY3HUZeoeMgVZeZGo=");
  EXPECT_EQ(text_at(message, "/card/header/title/tag"), "plain_text");
  EXPECT_EQ(text_at(message, "/card/header/template"), "red");
  EXPECT_EQ(text_at(message, "/card/elements/0/fields/0/text/tag"), "plain_text");
  EXPECT_EQ(text_at(message, "/card/elements/1/text/content"), full_notice().last_error);
  EXPECT_EQ(text_at(message, "/card/elements/3/actions/0/url"), full_notice().link);
  EXPECT_FALSE(feishu_message(full_notice(), "", kSentAt).contains("sign"));
}

TEST(Feishu, RequestStaysBelowTwentyKilobytes) {
  EXPECT_LE(json::serialize(feishu_message(longest_notice(), "s3cret", kSentAt)).size(), 20'000U);
}

// open.dingtalk.com, custom robots: markdown with title and text; the signature is Python's:
//   quote(base64.b64encode(hmac.new(secret, f"{timestamp}\n{secret}".encode(),
//   hashlib.sha256).digest()))
TEST(DingTalk, MessageIsMarkdownAndSignedInTheQuery) {
  const json::value message = dingtalk_message(full_notice());

  EXPECT_EQ(text_at(message, "/msgtype"), "markdown");
  EXPECT_THAT(text_at(message, "/markdown/title"), HasSubstr("Recourse [error]"));
  const std::string text = text_at(message, "/markdown/text");
  EXPECT_THAT(text, testing::StartsWith("### Recourse"));
  EXPECT_THAT(text, HasSubstr("**Kind**: grant-points\n\n"));
  EXPECT_THAT(text, HasSubstr("[Open the task](https://recourse.example/"));
  EXPECT_THAT(text, Not(HasSubstr("[x](http://evil)")));
  EXPECT_EQ(dingtalk_signature("SECabc", kSentAt),
            "timestamp=1700000000000&sign=jcUpW0QmtKduN03n4JqQ0PBosVjqnM8gU7fIIvsDmCM%3D");
  EXPECT_EQ(dingtalk_signature("", kSentAt), "");
  EXPECT_LE(json::serialize(json::value(dingtalk_message(longest_notice()))).size(), 20'000U);
}

// developer.work.weixin.qq.com, group robots: markdown, 4,096 bytes.
TEST(WeCom, MessageIsMarkdownWithinItsBytes) {
  const std::string content = text_at(wecom_message(full_notice()), "/markdown/content");
  EXPECT_EQ(text_at(wecom_message(full_notice()), "/msgtype"), "markdown");
  EXPECT_THAT(content, Not(HasSubstr("<@all>")));
  EXPECT_THAT(content, HasSubstr("and 412 more"));

  const std::string longest = text_at(wecom_message(longest_notice()), "/markdown/content");
  EXPECT_LE(longest.size(), kWecomBytesMax);
  EXPECT_THAT(longest, HasSubstr("[Open the task](https://recourse.example/"));
  EXPECT_EQ(clean_text(longest, 10'000), longest);
}

RC_GTEST_PROP(WeCom, NeverHasMoreBytesThanItMay, (const std::string& kind, std::string error)) {
  while (error.size() < 2'000) error += error + "\u5931<";
  const Notice notice = fit_to_send(
      {.kind = task::Kind(kind), .last_error = error, .more = 7, .link = "https://a.example/x"},
      Masker::make({}).value());
  RC_ASSERT(text_at(wecom_message(notice), "/markdown/content").size() <= kWecomBytesMax);
}

class ChatChannelTest : public HttpChannelTest {
 protected:
  using Make = std::function<Result<std::shared_ptr<Channel>>(std::string url)>;

  Make slack() {
    return [this](std::string url) {
      return make_slack_channel("c", {.url = std::move(url)}, *client_, clock_);
    };
  }
  Make wecom() {
    return [this](std::string url) {
      return make_wecom_channel("c", {.url = std::move(url)}, *client_, clock_);
    };
  }
  Make feishu() {
    return [this](std::string url) {
      return make_feishu_channel("c", {{.url = std::move(url)}, "s3cret"}, *client_, clock_);
    };
  }
  Make dingtalk() {
    return [this](std::string url) {
      return make_dingtalk_channel("c", {{.url = std::move(url)}, "SECabc"}, *client_, clock_);
    };
  }
  Result<> send(const Make& make, const std::string& target = "/hook/secret") {
    return make(server_.url(target)).value()->send(full_notice(), {});
  }
};

TEST_F(ChatChannelTest, A200IsASuccessOnlyWhereItSaysSo) {
  answer(200, "ok");
  EXPECT_TRUE(send(slack()));
  answer(200, R"({"errcode":0,"errmsg":"ok"})");
  EXPECT_TRUE(send(wecom()));
  EXPECT_TRUE(send(dingtalk()));
  for (const char* good :
       {R"({"code":0,"msg":"success","data":{}})", R"({"StatusCode":0,"StatusMessage":"success"})",
        R"({"StatusCode":0,"StatusMessage":"success","code":0,"data":{},"msg":"success"})"}) {
    answer(200, good);
    EXPECT_TRUE(send(feishu())) << good;
  }
}

TEST_F(ChatChannelTest, ARefusalInA200IsOne) {
  answer(
      200,
      R"({"code":19021,"msg":"sign match fail or timestamp is not within one hour from current time"})");
  EXPECT_THAT(send(feishu()).error().message, HasSubstr("19021 sign match fail"));
  EXPECT_EQ(send(feishu()).error().code, ErrorCode::kInvalid);
  answer(200, R"({"code":11232,"msg":"frequency limited"})");
  EXPECT_EQ(send(feishu()).error().code, ErrorCode::kUnavailable);
  answer(200, R"({"errcode":310000,"errmsg":"sign not match"})");
  EXPECT_EQ(send(dingtalk()).error().code, ErrorCode::kInvalid);
  answer(200, R"({"errcode":45009,"errmsg":"api freq out of limit"})");
  EXPECT_EQ(send(wecom()).error().code, ErrorCode::kUnavailable);
  answer(200, R"({"errcode":93000,"errmsg":"invalid webhook url"})");
  EXPECT_EQ(send(wecom()).error().code, ErrorCode::kInvalid);
}

TEST_F(ChatChannelTest, NonsenseInA200IsNoSuccess) {
  for (const char* body : {"", "ok", "[]", "{}", "null", R"({"errcode":"0"})", "{\"errcode\":"}) {
    answer(200, body);
    for (const Make& make : {wecom(), dingtalk(), feishu()}) {
      const Result<> sent = send(make);
      ASSERT_FALSE(sent) << body;
      EXPECT_EQ(sent.error().code, ErrorCode::kUnavailable);
    }
  }
}

TEST_F(ChatChannelTest, DingTalkSignsInTheQueryBesideTheRobotsToken) {
  answer(200, R"({"errcode":0})");
  ASSERT_TRUE(send(dingtalk(), "/robot/send?access_token=abc"));
  EXPECT_THAT(seen().target,
              testing::StartsWith("/robot/send?access_token=abc&timestamp=1700000000000&sign="));
}

TEST_F(ChatChannelTest, ErrorsKeepTheRobotsUrlToThemselves) {
  answer(404, "no_service");
  for (const Make& make : {slack(), wecom(), dingtalk(), feishu()}) {
    const Result<> sent = send(make, "/hook/secret?key=secret");
    EXPECT_EQ(sent.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(sent.error().message, HasSubstr("no_service"));
    EXPECT_THAT(sent.error().message, Not(HasSubstr("secret")));
    const auto refused = make("ftp://secret");
    EXPECT_THAT(refused.error().message, Not(HasSubstr("secret")));
  }
}

}  // namespace
}  // namespace recourse::notify
