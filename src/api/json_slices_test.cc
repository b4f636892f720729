#include "api/json_slices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <boost/json.hpp>

namespace recourse::api {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(JsonSlices, KeepAPayloadByteByByte) {
  EXPECT_EQ(
      member_of(R"( { "kind" : "a", "payload" : { "n" : 12345678901234567890.10 , "s":"}\"]" } } )",
                "payload"),
      R"({ "n" : 12345678901234567890.10 , "s":"}\"]" })");
  EXPECT_EQ(member_of(R"({"payload":1e3})", "payload"), "1e3");
  EXPECT_EQ(member_of(R"({"payload":"a\\"})", "payload"), R"("a\\")");
  EXPECT_EQ(member_of(R"({"payload":null ,"x":1})", "payload"), "null");
}

TEST(JsonSlices, FindMembersOfTheOutermostObjectOnly) {
  EXPECT_EQ(member_of(R"({"a":{"payload":1},"b":"\"payload\":2"})", "payload"), std::nullopt);
  EXPECT_EQ(member_of("{}", "payload"), std::nullopt);
  EXPECT_EQ(member_of("[1]", "payload"), std::nullopt);
  EXPECT_EQ(member_of(R"({"payload":1,"payload":2})", "payload"), "2");
}

TEST(JsonSlices, SeeThroughEscapesInANameAsParsersDo) {
  EXPECT_EQ(member_of(R"({"p\u0061yload":1})", "payload"), "1");
  EXPECT_EQ(member_of(R"({"payload":1,"\u0070ayload":2})", "payload"), "2");
  EXPECT_EQ(member_of(R"({"p\\u0061yload":1})", "payload"), std::nullopt);
}

TEST(JsonSlices, ListElements) {
  EXPECT_THAT(elements_of(R"([ {"a":[1,2]} , "x,]" ,3])"),
              ElementsAre(R"({"a":[1,2]})", R"("x,]")", "3"));
  EXPECT_THAT(elements_of("[ ]"), IsEmpty());
  EXPECT_THAT(elements_of("{}"), IsEmpty());
}

rc::Gen<boost::json::value> any_value(int depth) {
  return rc::gen::exec([depth]() -> boost::json::value {
    switch (*rc::gen::inRange(0, depth > 0 ? 5 : 3)) {
      case 0: return *rc::gen::arbitrary<std::int64_t>();
      case 1: return boost::json::value(*rc::gen::string<std::string>());
      case 2: return nullptr;
      case 3: {
        boost::json::array array;
        const int size = *rc::gen::inRange(0, 4);
        for (int i = 0; i < size; ++i) array.push_back(*any_value(depth - 1));
        return array;
      }
      default: {
        boost::json::object object;
        const int size = *rc::gen::inRange(0, 4);
        for (int i = 0; i < size; ++i) {
          object[*rc::gen::element<std::string>("payload", "kind", "a\"b", "\\")] =
              *any_value(depth - 1);
        }
        return object;
      }
    }
  });
}

RC_GTEST_PROP(JsonSlicesProperty, AgreeWithTheParser, ()) {
  boost::json::object object;
  object["payload"] = *any_value(3);
  object["rest"] = *any_value(3);
  boost::json::array array{*any_value(3), object, *any_value(2)};
  const std::string text = boost::json::serialize(array);

  const auto slices = elements_of(text);

  RC_ASSERT(slices.size() == 3U);
  RC_ASSERT(slices[1] == boost::json::serialize(object));
  RC_ASSERT(member_of(slices[1], "payload").value() == boost::json::serialize(object["payload"]));
  RC_ASSERT(member_of(slices[1], "rest").value() == boost::json::serialize(object["rest"]));
}

}  // namespace
}  // namespace recourse::api
