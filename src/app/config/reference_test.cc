#include "app/config/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "app/config/changes.h"
#include "app/config/keys.h"
#include "app/config/load_driver.h"
#include "app/config/read_yaml.h"

namespace recourse::app {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream content;
  content << file.rdbuf();
  EXPECT_TRUE(file) << path;
  return content.str();
}

std::string in_repository(const std::string& path) {
  return std::string(RECOURSE_SOURCE_DIR) + "/" + path;
}

TEST(Reference, ParsesAndMeansTheSameAsAnEmptyFile) {
  const Config reference = config_of(reference_yaml());

  const Changes changes = what_changed(config_of(""), reference);

  for (const Change& change : changes.now) ADD_FAILURE() << change.path << " " << change.after;
  for (const Change& change : changes.restart) ADD_FAILURE() << change.path << " " << change.after;
}

TEST(Reference, HasEveryKeyOnceWithItsDocumentation) {
  Config config = default_config();
  config.kinds["k"];
  std::set<std::string> paths;

  for (const Key& key : all_keys_of(config)) {
    EXPECT_TRUE(paths.insert(key.path).second) << key.path << " is there twice";
    EXPECT_TRUE(key.about.text.ends_with('.')) << key.path;
    if (key.items != nullptr) continue;
    EXPECT_FALSE(key.show().empty() && key.about.example.empty())
        << key.path << " has neither default nor example";
  }
}

// A default is what a fresh Config holds; it must be one that could have been written.
TEST(Reference, EveryDefaultIsAllowed) {
  Config config = default_config();
  for (const Key& key : keys_of(config)) {
    if (key.items != nullptr || key.show().empty()) continue;
    const std::string value = key.show();
    Problems problems;
    const Given read = read_yaml("value: " + value, "", problems).find("value")->value;
    EXPECT_THAT(key.put(read, {.environment = {}}), IsEmpty()) << key.path;
    EXPECT_EQ(key.show(), value) << key.path;
  }
}

TEST(Reference, TheDocumentationIsTheTables) {
  const std::string document = read_file(in_repository("docs/configuration.md"));
  const std::string generated = reference_markdown();

  if (document.find(generated) != std::string::npos) return;
  const std::string fresh = testing::TempDir() + "configuration_reference.md";
  std::ofstream(fresh) << generated;
  FAIL() << "docs/configuration.md is behind the table of keys: replace its tables by " << fresh;
}

// The range of each number ends where the engine's own check ends, or before.
TEST(Reference, WhatARowAllowsTheEngineAllows) {
  Config config = default_config();
  config.node.name = "node";
  for (const Key& key : keys_of(config)) {
    const std::size_t to = key.allowed.find(" to ");
    if (to == std::string::npos) continue;
    const std::string low = key.allowed.substr(0, to);
    std::string high = key.allowed.substr(to + 4);
    high = high.substr(0, high.find(';'));
    for (const std::string& bound : {low, high}) {
      const Loaded loaded = load_text("", {}, {key.path + "=" + bound});
      for (const std::string& problem : texts_of(loaded)) {
        EXPECT_EQ(problem.find("cannot be set up so"), std::string::npos) << problem;
        EXPECT_EQ(problem.find("not \""), std::string::npos) << problem;
      }
    }
  }
}

TEST(Deploy, TheExampleParsesWithoutAWord) {
  const Environment environment{
      {"RECOURSE_OPS_TOKEN", "a-token-of-some-length"},
      {"RECOURSE_DASHBOARD_TOKEN", "another-token-of-some-length"},
      {"POINTS_SIGNING_KEY", "whsec_0123456789abcdef"},
      {"POINTS_AUTHORIZATION", "Bearer x"},
  };

  const Loaded loaded = load_config(in_repository("deploy/recourse.yaml"), environment, {});

  EXPECT_THAT(texts_of(loaded), IsEmpty());
}

TEST(Deploy, TheBlocksInTheDocumentationParse) {
  const std::string document = read_file(in_repository("docs/configuration.md"));
  const Environment environment{{"OPS_TOKEN", "a-token-of-some-length"},
                                {"STORE_URL", "postgres://u@h/d"},
                                {"POINTS_SIGNING_KEY", "whsec_0123456789abcdef"}};
  constexpr std::string_view kBegin = "```yaml\n";
  int blocks = 0;
  for (std::size_t at = document.find(kBegin); at != std::string::npos;
       at = document.find(kBegin, at + 1)) {
    const std::size_t begin = at + kBegin.size();
    const std::string block = document.substr(begin, document.find("```", begin) - begin);
    EXPECT_THAT(problems_of(block, environment), IsEmpty()) << block;
    ++blocks;
  }
  EXPECT_GE(blocks, 2);
}

// What a reader copies out of the guide is accepted as it stands.
TEST(Reference, TheExamplesOfTheNotificationsAreAccepted) {
  const std::string document = read_file(in_repository("docs/notifications.md"));
  constexpr std::string_view kBegin = "```yaml\n";
  int blocks = 0;
  for (std::size_t at = document.find(kBegin); at != std::string::npos;
       at = document.find(kBegin, at)) {
    at += kBegin.size();
    const std::size_t end = document.find("```", at);
    EXPECT_THAT(
        problems_of(document.substr(at, end - at), {{"SLACK_URL", "https://chat.example.com/hook"},
                                                    {"MAIL_PASSWORD", "a-password"}}),
        IsEmpty());
    at = end + 3;
    ++blocks;
  }
  EXPECT_EQ(blocks, 2);
}

TEST(Reference, TheExampleOfTheGuardsIsAccepted) {
  const std::string document = read_file(in_repository("docs/guard.md"));
  constexpr std::string_view kBegin = "```yaml\n";
  const std::size_t at = document.find(kBegin) + kBegin.size();
  ASSERT_LT(at, document.size());

  EXPECT_THAT(problems_of(document.substr(at, document.find("```", at) - at),
                          {{"MAIL_PASSWORD", "a-password"}}),
              IsEmpty());
}

}  // namespace
}  // namespace recourse::app
