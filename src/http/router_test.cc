#include "http/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recourse::http {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using Path = std::vector<std::string>;

Router tasks() {
  return Router::make({{Method::kGet, "/"},
                       {Method::kGet, "/api/v1/tasks"},
                       {Method::kPost, "/api/v1/tasks"},
                       {Method::kGet, "/api/v1/tasks/{id}"},
                       {Method::kDelete, "/api/v1/tasks/{id}"},
                       {Method::kPost, "/api/v1/tasks/{id}/retry"},
                       {Method::kGet, "/api/v1/tasks/count"},
                       {Method::kGet, "/api/v1/{any}/{thing}/{deep}"}})
      .value();
}

std::string refusal_of(std::vector<Route> routes) {
  const Result<Router> made = Router::make(std::move(routes));
  return made ? "" : made.error().message;
}

TEST(Router, AnswersTheRouteAndItsParameters) {
  const Router router = tasks();

  const auto found =
      std::get<Router::Found>(router.match(Method::kPost, {"api", "v1", "tasks", "a/b", "retry"}));

  EXPECT_EQ(found.route, 5U);
  EXPECT_THAT(found.parameters, ElementsAre(Pair("id", "a/b")));
  EXPECT_EQ(found.parameter("id"), "a/b");
  EXPECT_EQ(found.parameter("no"), "");
}

TEST(Router, MatchesTheRoot) {
  EXPECT_EQ(std::get<Router::Found>(tasks().match(Method::kGet, {})).route, 0U);
}

TEST(Router, PrefersALiteralToAParameter) {
  const Router router = tasks();

  const Router::Match match = router.match(Method::kGet, {"api", "v1", "tasks", "count"});

  EXPECT_EQ(std::get<Router::Found>(match).route, 6U);
}

TEST(Router, AsksTheLessCloseTemplateWhereTheCloserLacksTheMethod) {
  const Router router = tasks();

  const Router::Match match = router.match(Method::kDelete, {"api", "v1", "tasks", "count"});

  EXPECT_EQ(std::get<Router::Found>(match).route, 4U);
}

TEST(Router, KnowsNoOtherPaths) {
  const Router router = tasks();

  for (const Path& path : {Path{"api"}, Path{"api", "v1", "Tasks"}, Path{"api", "v1", "tasks", ""},
                           Path{"api", "v1", "tasks", "1", "retry", ""}, Path{""}}) {
    EXPECT_TRUE(std::holds_alternative<Router::NotFound>(router.match(Method::kGet, path)))
        << testing::PrintToString(path);
  }
}

TEST(Router, SaysWhichMethodsThereAre) {
  const Router router = tasks();

  const auto wrong =
      std::get<Router::WrongMethod>(router.match(Method::kPut, {"api", "v1", "tasks"}));
  const auto options =
      std::get<Router::Options>(router.match(Method::kOptions, {"api", "v1", "tasks", "7"}));

  EXPECT_EQ(wrong.allow, "GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(options.allow, "GET, HEAD, DELETE, OPTIONS");
}

TEST(Router, TakesHeadForGetUnlessItHasARouteOfItsOwn) {
  const Router router = Router::make({{Method::kGet, "/a"},
                                      {Method::kGet, "/b"},
                                      {Method::kHead, "/b"},
                                      {Method::kOptions, "/b"}})
                            .value();

  EXPECT_EQ(std::get<Router::Found>(router.match(Method::kHead, {"a"})).route, 0U);
  EXPECT_EQ(std::get<Router::Found>(router.match(Method::kHead, {"b"})).route, 2U);
  EXPECT_EQ(std::get<Router::Found>(router.match(Method::kOptions, {"b"})).route, 3U);
}

TEST(Router, RefusesTablesThatCouldBeReadTwoWays) {
  EXPECT_THAT(refusal_of({{Method::kGet, "/a"}, {Method::kGet, "/a"}}), HasSubstr("the same"));
  EXPECT_THAT(refusal_of({{Method::kGet, "/{x}/b"}, {Method::kPost, "/a/{y}"}}),
              HasSubstr("neither is the closer"));
  EXPECT_THAT(refusal_of({{Method::kGet, "/a/{x}"}, {Method::kPost, "/a/{y}"}}),
              HasSubstr("two names"));
  EXPECT_EQ(refusal_of({{Method::kGet, "/a/{x}/c"}, {Method::kGet, "/b/{y}/c"}}), "");
}

TEST(Router, RefusesTemplatesThatMakeNoSense) {
  for (const std::string pattern : {"", "a", "/a/", "/a//b", "/{}", "/{a b}", "/{id}/{id}",
                                    "/a{id}", "/..", "/a%20b", "/a?b"}) {
    EXPECT_THAT(refusal_of({{Method::kGet, pattern}}), HasSubstr("route \"" + pattern)) << pattern;
  }
}

TEST(Router, ListsItsRoutesInTheirOrder) {
  const Router router = tasks();

  ASSERT_EQ(router.routes().size(), 8U);
  EXPECT_EQ(router.routes()[5].method, Method::kPost);
  EXPECT_EQ(router.routes()[5].pattern, "/api/v1/tasks/{id}/retry");
}

}  // namespace
}  // namespace recourse::http
