#include "http/server/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recourse::http {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(Target, TakesThePathApartBeforeItDecodes) {
  EXPECT_THAT(parse_target("/").value().path, IsEmpty());
  EXPECT_THAT(parse_target("/api/v1/tasks/tsk_1").value().path,
              ElementsAre("api", "v1", "tasks", "tsk_1"));
  EXPECT_THAT(parse_target("/a%2Fb/%e4%bd%a0+").value().path, ElementsAre("a/b", "\u4f60+"));
  EXPECT_THAT(parse_target("/a//b/").value().path, ElementsAre("a", "", "b", ""));
}

TEST(Target, ReadsTheQueryAsFormsAreSent) {
  const Target target = parse_target("/a?x=1&&y=a+b%26&z&=v&x=%0A?/").value();

  EXPECT_THAT(target.path, ElementsAre("a"));
  EXPECT_THAT(target.query, ElementsAre(Pair("x", "1"), Pair("y", "a b&"), Pair("z", ""),
                                        Pair("", "v"), Pair("x", "\n?/")));
}

TEST(Target, RefusesWhatCouldMeanTwoThings) {
  for (const std::string_view text :
       {"",          "*",    "a",       "http://host/a", "host:80",   "/..",  "/a/../b",
        "/%2e%2E/b", "/a/.", "/.%2e",   "/a%00b",        "/%",        "/%2",  "/%zz",
        "/a%2",      "/a#b", "/a b",    "/a\x7f",        "/\xc3\xa4", "/%ff", "/a%0d%0ab",
        "/?a=%00",   "/?%",  "/?a=%ff", "/?a=%4"}) {
    EXPECT_FALSE(parse_target(text)) << text;
  }
  EXPECT_TRUE(parse_target("/a..b/...")) << "only whole segments of dots mean something";
}

}  // namespace
}  // namespace recourse::http
