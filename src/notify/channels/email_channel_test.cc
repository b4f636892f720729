// What needs no mail server; tests/notify_channels_test.py has one.
#include "notify/channels/email_channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "notify/channels/http_fixture.h"

namespace recourse::notify {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class EmailChannelTest : public HttpChannelTest {
 protected:
  [[nodiscard]] EmailSettings settings(std::string url) const {
    return {.server = {.url = std::move(url)}, .from = "a@example.org", .to = {"b@example.org"}};
  }
  // Accepts connections and says nothing, which is no greeting.
  [[nodiscard]] std::string silent_server() const {
    return "smtp://127.0.0.1:" + std::to_string(server_.port());
  }
  Result<> send(const EmailSettings& with, std::stop_token stop = {}) {
    return make_email_channel("mail", with, clock_).value()->send(full_notice(), std::move(stop));
  }
};

TEST_F(EmailChannelTest, SaysWhereNobodyListens) {
  const Result<> nobody = send(settings("smtp://127.0.0.1:1"));
  EXPECT_EQ(nobody.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(nobody.error().message, HasSubstr("127.0.0.1"));
}

TEST_F(EmailChannelTest, DoesNotWaitForAServerThatSaysNothing) {
  EmailSettings impatient = settings(silent_server());
  impatient.server.timeout = 50ms;
  const Result<> late = send(impatient);
  EXPECT_EQ(late.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(late.error().message, HasSubstr("not done within 50ms"));
}

TEST_F(EmailChannelTest, EndsWhenItIsTold) {
  std::stop_source stop;
  stop.request_stop();
  const Result<> stopped = send(settings(silent_server()), stop.get_token());
  EXPECT_THAT(stopped.error().message, HasSubstr("stopped"));
}

TEST_F(EmailChannelTest, GoesOnlyWhereItMay) {
  EmailSettings far = settings(silent_server());
  far.server.reach = {.public_only = true};
  const Result<> forbidden = send(far);
  EXPECT_EQ(forbidden.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(forbidden.error().message, HasSubstr("not a public address"));
}

TEST_F(EmailChannelTest, RefusesSettingsThatCannotWork) {
  for (const char* url :
       {"", "http://x", "smtp://u:p@host", "smtp://u@host", "mail.example.org:99999"}) {
    const Result<> valid = validate(settings(url));
    ASSERT_FALSE(valid) << url;
    EXPECT_THAT(valid.error().message, HasSubstr("email.server"));
  }
  EmailSettings half = settings("smtps://host");
  half.server.user = "u";
  EXPECT_FALSE(validate(half));
  EmailSettings nobody = settings("smtps://host");
  nobody.to = {};
  EXPECT_THAT(validate(nobody).error().message, HasSubstr("email.to"));
  nobody.to = {"nonsense"};
  EXPECT_THAT(validate(nobody).error().message, HasSubstr("email.to"));
  EXPECT_TRUE(validate(settings("smtp://mail.example.org:587")));
}

}  // namespace
}  // namespace recourse::notify
