#include "cli/problem_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recourse::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ProblemText, ShowsEachFieldOnALineOfItsOwn) {
  EXPECT_EQ(problem_text(422,
                         R"({"title":"Invalid","detail":"two fields are wrong","errors":[
                            {"pointer":"/kind","detail":"is missing"},
                            {"pointer":"?limit","detail":"is too large"}]})",
                         "http://x"),
            "two fields are wrong\n  kind is missing\n  limit is too large");
}

TEST(ProblemText, SaysOfASingleFieldOnce) {
  EXPECT_EQ(problem_text(422,
                         R"({"title":"Invalid","detail":"?state must be one of a, b","errors":[
                            {"pointer":"?state","detail":"must be one of a, b"}]})",
                         "http://x"),
            "state must be one of a, b");
}

TEST(ProblemText, SaysHowToShowAToken) {
  EXPECT_THAT(problem_text(401, R"({"title":"Who are you?","detail":"show a token"})", "http://x"),
              HasSubstr("RECOURSE_TOKEN"));
}

TEST(ProblemText, TellsAStrangersAnswerFromOurs) {
  EXPECT_THAT(problem_text(502, "<html>Bad gateway</html>", "http://x"),
              HasSubstr("correct --server"));
  EXPECT_THAT(problem_text(502, "[1]", "http://x"), HasSubstr("correct --server"));
}

TEST(ProblemText, LetsNothingThroughThatATerminalObeys) {
  EXPECT_THAT(problem_text(409, R"({"title":"t","detail":"a\u001b[2Jb","errors":[
                                    {"pointer":"/\u001b]0;x","detail":"c\u0007"}]})",
                           "http://x"),
              Not(testing::AnyOf(HasSubstr("\x1b"), HasSubstr("\x07"))));
}

TEST(TroubleText, SaysWhatToDoWhereNobodyAnswers) {
  const std::string text =
      trouble_text({http::CallTrouble::kUnreachable, "connection refused"}, "http://h:1");
  EXPECT_THAT(text, HasSubstr("no server answers at http://h:1"));
  EXPECT_THAT(text, HasSubstr("recourse serve"));
  EXPECT_THAT(text, HasSubstr("--server"));
}

}  // namespace
}  // namespace recourse::cli
