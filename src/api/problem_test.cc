#include "api/problem.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace recourse::api {
namespace {

using namespace std::chrono_literals;

TEST(Problem, SaysWhatIsWrongAndWhere) {
  const http::Response response =
      to_response({.status = 422,
                   .detail = "correct it",
                   .errors = {{.pointer = "/a~1b", .detail = "is missing"}}});
  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(response.headers.find("Content-Type"), "application/problem+json");
  EXPECT_EQ(response.headers.find("Cache-Control"), "no-store");
  EXPECT_EQ(boost::json::parse(response.body),
            boost::json::parse(R"({"type":"about:blank","title":"Invalid","status":422,
              "detail":"correct it","errors":[{"pointer":"/a~1b","detail":"is missing"}]})"));
  EXPECT_FALSE(response.headers.find("Retry-After"));
}

TEST(Problem, ToldToComeBackAlwaysWhen) {
  EXPECT_EQ(to_response({.status = 503, .detail = "x"}).headers.find("Retry-After"), "1");
  EXPECT_EQ(to_response({.status = 429, .detail = "x"}).headers.find("Retry-After"), "1");
  EXPECT_EQ(to_response({.status = 429, .detail = "x", .errors = {}, .retry_after = 1500ms})
                .headers.find("Retry-After"),
            "2");
  EXPECT_EQ(to_response({.status = 503, .detail = "x", .errors = {}, .retry_after = 0s})
                .headers.find("Retry-After"),
            "1");
}

TEST(Problem, AnErrorsCodeDecidesTheStatus) {
  const std::pair<ErrorCode, int> statuses[] = {
      {ErrorCode::kInvalid, 422},     {ErrorCode::kNotFound, 404}, {ErrorCode::kConflict, 409},
      {ErrorCode::kExhausted, 429},   {ErrorCode::kInDoubt, 503},  {ErrorCode::kCorrupt, 500},
      {ErrorCode::kUnavailable, 503},
  };
  for (const auto& [code, status] : statuses) {
    const Problem problem = problem_of({code, "why"});
    EXPECT_EQ(problem.status, status);
    EXPECT_EQ(problem.detail, "why");
    EXPECT_NE(title_of(status), "Error");
  }
}

}  // namespace
}  // namespace recourse::api
