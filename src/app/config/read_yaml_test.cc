#include "app/config/read_yaml.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace recourse::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Reading {
  Given root;
  std::vector<std::string> problems;
};

Reading read(std::string_view text) {
  Problems problems;
  Reading reading{.root = read_yaml(text, "a.yaml", problems), .problems = {}};
  for (const Problem& problem : std::move(problems).take()) {
    reading.problems.push_back(to_string(problem));
  }
  return reading;
}

TEST(ReadYaml, EveryValueKnowsItsLineAndColumn) {
  Reading reading = read("server:\n  listen: here\n  hosts: [a, b]\n");

  ASSERT_THAT(reading.problems, IsEmpty());
  Given& server = reading.root.find("server")->value;
  EXPECT_EQ(to_string(server.find("listen")->where), "a.yaml:2:3");
  EXPECT_EQ(to_string(server.find("listen")->value.where), "a.yaml:2:11");
  EXPECT_EQ(server.find("hosts")->value.items.at(1).text, "b");
}

TEST(ReadYaml, AnEmptyFileIsAnEmptyMap) {
  for (const std::string_view text : {"", "# nothing\n", "---\n", "~\n", "\xEF\xBB\xBF"}) {
    const Reading reading = read(text);
    EXPECT_THAT(reading.problems, IsEmpty()) << text;
    EXPECT_EQ(reading.root.shape, Shape::kMap) << text;
  }
}

TEST(ReadYaml, ADuplicateKeyIsRefusedWithBothPlaces) {
  const Reading reading = read("a: 1\nb: 2\na: 3\nb: 4\n");

  EXPECT_THAT(reading.problems,
              ElementsAre("a.yaml:3:1: error: the key \"a\" is already in line 1; write it once",
                          "a.yaml:4:1: error: the key \"b\" is already in line 2; write it once"));
}

TEST(ReadYaml, AnAliasIsACopy) {
  Reading reading = read("a: &x {k: v}\nb: *x\n");

  ASSERT_THAT(reading.problems, IsEmpty());
  EXPECT_EQ(reading.root.find("b")->value.find("k")->value.text, "v");
}

TEST(ReadYaml, AliasesThatMultiplyAreBounded) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    bomb += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i, i - 1);
  }

  EXPECT_THAT(read(bomb).problems, ElementsAre(HasSubstr("aliases that copy too much")));
}

TEST(ReadYaml, AliasesOfALongTextAreBounded) {
  std::string bomb = "a: &a " + std::string(500'000, 'x') + "\nb: [";
  for (int i = 0; i < 100; ++i) bomb += "*a, ";

  EXPECT_THAT(read(bomb + "*a]\n").problems, ElementsAre(HasSubstr("aliases that copy too much")));
}

TEST(ReadYaml, AliasesCannotNestBeyondTheDepth) {
  std::string chain = "a0: &a0 [[[[[[[[[[x]]]]]]]]]]\n";
  for (int i = 1; i < 10; ++i)
    chain += fmt::format("a{0}: &a{0} [[[[[[[[*a{1}]]]]]]]]\n", i, i - 1);

  EXPECT_THAT(read(chain).problems, ElementsAre(HasSubstr("nested deeper than 32 levels")));
}

TEST(ReadYaml, AnAliasOfWhatItStandsInIsRefused) {
  EXPECT_THAT(read("a: &a [*a]\n").problems, ElementsAre(HasSubstr("inside of what it names")));
}

TEST(ReadYaml, DeepNestingIsRefusedInEveryStyle) {
  std::string blocks;
  for (int i = 0; i < 200; ++i) blocks += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  const std::string brackets(100'000, '[');
  const std::string braces(100'000, '{');
  std::string dashes;
  for (int i = 0; i < 1'000; ++i) dashes += "- ";

  for (const std::string& text : {blocks, brackets, braces, dashes}) {
    EXPECT_THAT(read(text).problems, ElementsAre(HasSubstr("error: "))) << text.substr(0, 5);
  }
}

TEST(ReadYaml, WhatIsNoTextIsRefusedAsSuch) {
  using namespace std::string_view_literals;
  for (const std::string_view junk : {"\x7f"
                                      "ELF\x02\x01\x01\0\0"sv,
                                      "a: \xff\xfe\n"sv, "a: b\0c\n"sv, "a: \x1b[31m\n"sv}) {
    EXPECT_THAT(read(junk).problems, ElementsAre(HasSubstr("not a text file")));
  }
}

TEST(ReadYaml, WhatIsNoYamlIsRefusedWithItsPlace) {
  EXPECT_THAT(read("a: 1\nb: [1, 2\nc: 3\n").problems,
              ElementsAre(HasSubstr("error: this is not YAML: ")));
  EXPECT_THAT(read("a: *nothing\n").problems, ElementsAre(HasSubstr("not YAML")));
  EXPECT_THAT(read("\ta: 1\n").problems, ElementsAre(HasSubstr("a.yaml:1:")));
}

TEST(ReadYaml, ATabThatIndentsIsNamed) {
  for (const char* text :
       {"\ta: 1\n", "a:\n\tb: 1\n", "a:\n  b: 1\n\tc: 3\n", "a:\n  b:\n    c: d\n \t e: f\n"}) {
    EXPECT_THAT(read(text).problems, ElementsAre(HasSubstr("indented by a tab: YAML wants spaces")))
        << text;
  }
  EXPECT_THAT(read("a: [1,\n\t2]\n").problems, IsEmpty());
}

TEST(ReadYaml, AFileThatIsNoMapOrTooLargeOrTwoDocumentsIsRefused) {
  EXPECT_THAT(read("- a\n- b\n").problems,
              ElementsAre(HasSubstr("must be a map of keys, such as `server:`, not a list")));
  EXPECT_THAT(read("hello\n").problems, ElementsAre(HasSubstr("not a single value")));
  EXPECT_THAT(read(std::string(kFileBytesMax + 1, '#')).problems,
              ElementsAre(HasSubstr("more than 1048576 bytes")));
  EXPECT_THAT(read("a: 1\n---\nb: 2\n").problems, ElementsAre(HasSubstr("one YAML document")));
  EXPECT_THAT(read("? [a, b]\n: c\n").problems, ElementsAre(HasSubstr("a key must be a word")));
}

}  // namespace
}  // namespace recourse::app
