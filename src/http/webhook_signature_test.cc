#include "http/webhook_signature.h"

#include <gtest/gtest.h>

#include <vector>

namespace recourse::http {
namespace {

using namespace std::chrono_literals;

// The expected values come from Python:
//   import base64, hashlib, hmac
//   def sign(key, id, timestamp, body):
//     text = f"{id}.{timestamp}.".encode() + body
//     return base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()
//   sign(base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), "msg_p5jXN8AQM9LWM0D4loKWxJek",
//        "1614265330", b'{"test": 2432232314}')
constexpr std::string_view kSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
constexpr WebhookParts kParts{.id = "msg_p5jXN8AQM9LWM0D4loKWxJek",
                              .timestamp = "1614265330",
                              .body = R"({"test": 2432232314})"};
constexpr std::string_view kSignature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
constexpr TimePoint kThen{1614265330s};

//   sign(b"a raw secret of 29 characters", "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV", "1700000000",
//        b'{"order": "\xc3\xa4"}\n')
constexpr std::string_view kRawSecret = "a raw secret of 29 characters";
constexpr WebhookParts kRawParts{.id = "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV",
                                 .timestamp = "1700000000",
                                 .body = "{\"order\": \"\xC3\xA4\"}\n"};
constexpr std::string_view kRawSignature = "v1,NzT/yeXbcPLc7KgZ4uRIZmBkf0v9NiWKYfavBV5ZPGw=";

//   sign(bytes(range(32)), "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV", "1700000000", b"")
constexpr std::string_view kPaddedSecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
constexpr WebhookParts kEmptyParts{
    .id = "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV", .timestamp = "1700000000", .body = ""};
constexpr std::string_view kPaddedSignature = "v1,Uh94J6p8s9p4gXQ3DBAJ/vNHTUz8337O89RTUNFbZJo=";

std::vector<WebhookKey> keys(std::initializer_list<std::string_view> secrets) {
  std::vector<WebhookKey> parsed;
  for (const std::string_view secret : secrets) parsed.push_back(WebhookKey::parse(secret).value());
  return parsed;
}

TEST(WebhookSignature, IsWhatOthersCompute) {
  EXPECT_EQ(sign_webhook(keys({kSecret}), kParts), kSignature);
  EXPECT_EQ(sign_webhook(keys({kRawSecret}), kRawParts), kRawSignature);
  EXPECT_EQ(sign_webhook(keys({kPaddedSecret}), kEmptyParts), kPaddedSignature);
}

TEST(WebhookSignature, EachKeySignsSoThatSecretsCanBeReplaced) {
  const std::string both = sign_webhook(keys({kPaddedSecret, kRawSecret}), kRawParts);

  EXPECT_EQ(both.find("v1,"), 0U);
  EXPECT_TRUE(both.ends_with(" " + std::string(kRawSignature))) << both;
  const TimePoint now{1700000000s};
  EXPECT_TRUE(verify_webhook(keys({kRawSecret}), kRawParts, both, now));
  EXPECT_TRUE(verify_webhook(keys({kPaddedSecret}), kRawParts, both, now));
  EXPECT_TRUE(verify_webhook(keys({kSecret, kRawSecret}), kRawParts, both, now));
  EXPECT_FALSE(verify_webhook(keys({kSecret}), kRawParts, both, now));
}

TEST(WebhookSignature, VerifiesAlsoAmongVersionsItDoesNotKnow) {
  const std::string header = "v1a,AAAA " + std::string(kSignature) + " v2,BBBB";

  EXPECT_TRUE(verify_webhook(keys({kSecret}), kParts, header, kThen));
}

TEST(WebhookSignature, EveryPartIsSigned) {
  const auto with = [](std::string_view id, std::string_view timestamp, std::string_view body) {
    return verify_webhook(keys({kSecret}), {.id = id, .timestamp = timestamp, .body = body},
                          kSignature, kThen)
        .has_value();
  };
  ASSERT_TRUE(with(kParts.id, kParts.timestamp, kParts.body));
  EXPECT_FALSE(with("msg_other", kParts.timestamp, kParts.body));
  EXPECT_FALSE(with(kParts.id, "1614265331", kParts.body));
  EXPECT_FALSE(with(kParts.id, kParts.timestamp, R"({"test": 2432232315})"));
  EXPECT_FALSE(with(kParts.id, kParts.timestamp, ""));
}

TEST(WebhookSignature, WhatIsNoSignatureVerifiesNothing) {
  for (const std::string_view header :
       {"", " ", "v1,", "v1", "v1,g0hM9SsE", "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        "v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OF="}) {
    EXPECT_FALSE(verify_webhook(keys({kSecret}), kParts, header, kThen)) << header;
  }
  EXPECT_FALSE(verify_webhook({}, kParts, kSignature, kThen));
}

TEST(WebhookSignature, AnOldRequestSentAgainIsRefused) {
  const auto at = [](TimePoint now) {
    return verify_webhook(keys({kSecret}), kParts, kSignature, now, 5min).has_value();
  };
  EXPECT_TRUE(at(kThen + 5min));
  EXPECT_TRUE(at(kThen - 5min));
  EXPECT_FALSE(at(kThen + 5min + 1us));
  EXPECT_FALSE(at(kThen - 5min - 1us));
}

TEST(WebhookSignature, ATimestampIsWholeSeconds) {
  for (const std::string_view timestamp :
       {"", "-1", "1614265330.5", "now", "99999999999999999999"}) {
    const auto verified = verify_webhook(
        keys({kSecret}), {.id = kParts.id, .timestamp = timestamp, .body = kParts.body}, kSignature,
        kThen);
    ASSERT_FALSE(verified);
    EXPECT_NE(verified.error().message.find("webhook-timestamp"), std::string::npos);
  }
  EXPECT_EQ(webhook_timestamp(kThen + 999ms), "1614265330");
}

TEST(WebhookSignature, ASecretThatIsTooShortOrNoBase64IsRefusedUnquoted) {
  for (const std::string_view secret :
       {"", "hunter2", "whsec_", "whsec_aHVudGVyMg==", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa w",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2La====", "whsec_MfKQ9r8GKYqr_-jUPD8ILPZIo2LaLaSw"}) {
    const auto key = WebhookKey::parse(secret);
    ASSERT_FALSE(key) << secret;
    EXPECT_EQ(key.error().message.find("hunter2"), std::string::npos);
    EXPECT_EQ(key.error().message.find("MfKQ"), std::string::npos);
  }
}

}  // namespace
}  // namespace recourse::http
