#include "api/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recourse::api {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

class FieldsTest : public testing::Test {
 protected:
  Fields of(const char* text) {
    object_ = boost::json::parse(text).as_object();
    return {object_, "/in", errors_};
  }
  std::vector<std::string> pointers() const {
    std::vector<std::string> pointers;
    for (const FieldError& error : errors_) pointers.push_back(error.pointer);
    return pointers;
  }

  boost::json::object object_;
  std::vector<FieldError> errors_;
};

TEST_F(FieldsTest, ReadsEachType) {
  Fields fields = of(R"({"t":"x","n":5,"b":true,"d":"1m30s","s":1.5,"at":"2026-11-16T09:15:00Z",
                         "m":{"a":"1"},"one":"x","many":["x","y"],"nothing":null})");
  EXPECT_EQ(fields.text("t"), "x");
  EXPECT_EQ(fields.required_text("t"), "x");
  EXPECT_EQ(fields.integer("n", 0, 5), 5);
  EXPECT_EQ(fields.boolean("b"), true);
  EXPECT_EQ(fields.duration("d", 1h), 90s);
  EXPECT_EQ(fields.duration("s", 1h), 1500ms);
  EXPECT_TRUE(fields.time("at"));
  EXPECT_EQ(fields.texts_by_name("m")->at("a"), "1");
  EXPECT_THAT(*fields.texts("one", 2), ElementsAre("x"));
  EXPECT_THAT(*fields.texts("many", 2), ElementsAre("x", "y"));
  EXPECT_EQ(fields.text("nothing"), std::nullopt);
  EXPECT_EQ(fields.text("absent"), std::nullopt);
  fields.refuse_others();
  EXPECT_TRUE(errors_.empty());
}

TEST_F(FieldsTest, CollectsAllThatIsWrongWithItsPlace) {
  Fields fields = of(R"({"t":1,"n":6,"x":1.5,"b":"yes","d":"soon","late":7200,"back":-1,"at":"noon",
                         "m":{"a/b":1},"many":["x",2],"full":[1,2,3],"o":[],"e":"","a~b":0})");
  (void)fields.text("t");
  (void)fields.integer("n", 0, 5);
  (void)fields.integer("x", 0, 5);
  (void)fields.boolean("b");
  (void)fields.duration("d", 1h);
  (void)fields.duration("late", 1h);
  (void)fields.duration("back", 1h);
  (void)fields.time("at");
  (void)fields.texts_by_name("m");
  (void)fields.texts("many", 5);
  (void)fields.array("full", 2);
  (void)fields.object("o");
  (void)fields.required_text("gone");
  (void)fields.required_text("e");
  fields.refuse_others();
  EXPECT_THAT(pointers(), ElementsAre("/in/t", "/in/n", "/in/x", "/in/b", "/in/d", "/in/late",
                                      "/in/back", "/in/at", "/in/m/a~1b", "/in/many", "/in/full",
                                      "/in/o", "/in/gone", "/in/e", "/in/a~0b"));
  EXPECT_THAT(errors_[1].detail, HasSubstr("0 to 5, not 6"));
  EXPECT_THAT(errors_.back().detail, HasSubstr("is not known here; there are: "));
}

TEST(ParseJson, RefusesWhatIsNotOneWholeText) {
  EXPECT_TRUE(parse_json(" {\"a\":1} \n"));
  for (const std::string_view text : {"", "{", "{} {}", "{}x", "nul", "{'a':1}", "\xff", "[1,]"}) {
    const auto parsed = parse_json(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalid);
  }
  EXPECT_TRUE(parse_json(std::string(32, '[') + std::string(32, ']')));
  EXPECT_FALSE(parse_json(std::string(33, '[') + std::string(33, ']')));
}

}  // namespace
}  // namespace recourse::api
