#include "cli/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace recourse::cli {
namespace {

using testing::HasSubstr;

class SessionTest : public testing::Test {
 protected:
  std::istringstream in_;
  std::ostringstream out_;
  std::ostringstream err_;
  Terminal terminal_{.in = in_, .out = out_, .err = err_};
};

TEST_F(SessionTest, GoesWhereTheFlagSaysAndElseWhereTheEnvironmentDoes) {
  EXPECT_EQ(Session::open({}, terminal_)->server(), "http://127.0.0.1:7070");
  terminal_.environment["RECOURSE_SERVER"] = "https://a.example/";
  EXPECT_EQ(Session::open({}, terminal_)->server(), "https://a.example");
  EXPECT_EQ(Session::open({.server = "http://b:1"}, terminal_)->server(), "http://b:1");
}

TEST_F(SessionTest, NamesTheFlagThatIsWrong) {
  EXPECT_THAT(Session::open({.server = "localhost:7070"}, terminal_).error().message,
              HasSubstr("http://127.0.0.1:7070"));
  EXPECT_THAT(Session::open({.timeout = "soon"}, terminal_).error().message,
              HasSubstr("--request-timeout"));
  EXPECT_THAT(Session::open({.token_file = "/nowhere/at/all"}, terminal_).error().message,
              HasSubstr("--token-file"));
}

TEST_F(SessionTest, SaysSoWhereNobodyAnswers) {
  // Port 1 is nobody's.
  auto session = Session::open({.server = "http://127.0.0.1:1"}, terminal_);
  EXPECT_FALSE(session->get("/api/v1/stats"));
  EXPECT_EQ(session->exit_code(), ExitCode::kDown);
  EXPECT_THAT(err_.str(), HasSubstr("no server answers at http://127.0.0.1:1"));
  EXPECT_EQ(out_.str(), "");
}

TEST_F(SessionTest, SaysNothingToThoseWhoWantItQuiet) {
  Session::open({.quiet = true}, terminal_)->say("hello");
  EXPECT_EQ(err_.str(), "");
  Session::open({}, terminal_)->say("hello");
  EXPECT_EQ(err_.str(), "hello\n");
}

}  // namespace
}  // namespace recourse::cli
