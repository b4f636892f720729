#include "http/server/answer_head.h"

#include <gtest/gtest.h>

#include "http/server/http_date.h"

namespace recourse::http {
namespace {

using namespace std::chrono_literals;

std::string head(const Response& response, BodyForm form = BodyForm::kLength,
                 After after = After::kKeepAlive) {
  std::string out;
  write_head(response, form, after, "NOW", out);
  return out;
}

TEST(AnswerHead, HasWhatTheTransportOwnsOnce) {
  const Response response{.status = 201,
                          .headers = {{"Content-Type", "text/plain"},
                                      {"content-length", "99"},
                                      {"Connection", "close"},
                                      {"DATE", "then"},
                                      {"Server", "other"},
                                      {"Transfer-Encoding", "gzip"}},
                          .body = "four"};

  EXPECT_EQ(head(response),
            "HTTP/1.1 201 Created\r\nServer: recourse\r\nDate: NOW\r\n"
            "Content-Type: text/plain\r\nContent-Length: 4\r\n\r\n");
}

TEST(AnswerHead, SaysWhatFollows) {
  EXPECT_TRUE(head({}, BodyForm::kLength, After::kClose)
                  .ends_with("Content-Length: 0\r\nConnection: close\r\n\r\n"));
  EXPECT_TRUE(head({}, BodyForm::kLength, After::kKeepAliveSaid)
                  .ends_with("Connection: keep-alive\r\n\r\n"));
  EXPECT_TRUE(head({}, BodyForm::kChunked).ends_with("NOW\r\nTransfer-Encoding: chunked\r\n\r\n"));
  EXPECT_TRUE(head({}, BodyForm::kUntilEnd).ends_with("NOW\r\n\r\n"));
  EXPECT_TRUE(head({.status = 204}).ends_with("NOW\r\n\r\n"));
}

TEST(AnswerHead, LetsNoValueBeginAHeaderOfItsOwn) {
  const Response response{.headers = {{"X-Name", "a\r\nSet-Cookie: b"}, {"Bad\r\nName", "c"}}};

  const std::string text = head(response);

  EXPECT_NE(text.find("X-Name: a  Set-Cookie: b\r\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("Bad"), std::string::npos);
}

TEST(HttpDate, IsWrittenAsTheStandardWants) {
  EXPECT_EQ(http_date(std::chrono::sys_seconds(784111777s)), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(http_date(std::chrono::sys_seconds(0s)), "Thu, 01 Jan 1970 00:00:00 GMT");
}

TEST(DateLine, ChangesWithTheSecond) {
  DateLine line;

  EXPECT_EQ(line.at(TimePoint(784111777s)), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(line.at(TimePoint(784111777999ms)), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(line.at(TimePoint(784111778s)), "Sun, 06 Nov 1994 08:49:38 GMT");
}

}  // namespace
}  // namespace recourse::http
