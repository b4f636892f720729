// Files that were once right. Whatever is done to them: a configuration or errors, and no crash.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "app/config/effective.h"
#include "app/config/load_driver.h"
#include "app/config/reference.h"

namespace recourse::app {
namespace {

// Long enough to reach every kind of row, short enough to run thousands of times.
constexpr const char* kValid = R"(server:
  listen: 127.0.0.1:7070
  tls: {certificate: a.crt, key: a.key}
  trusted-hosts: [a.example, "b.example"]
auth:
  tokens:
    - name: ops
      role: admin
      secret: env:TOKEN
retry:
  stick: &s {enable: true, lease-ttl: 30s}
  scan: {period: 2000, batch: 200}
  backoff: {strategy: linear, jitter-ratio: 0.2}
kinds:
  grant:
    url: https://points.example.com/grant
    breaker: false
    rate: {per-second: 5}
    signing: [env:KEY]
    headers: {X-Source: "yes"}
    retention: 3d
  report: {type: exec, command: [/bin/true]}
schedules:
  nightly: {when: "@daily", kind: report, payload: '{"a": 1}'}
)";

constexpr std::array<std::string_view, 22> kPieces{"\n",    "  ",
                                                   ":",     ": ",
                                                   "- ",    "[",
                                                   "]",     "{",
                                                   "}",     "\"",
                                                   "'",     "&a ",
                                                   "*a",    "*s",
                                                   "!!x",   "|\n",
                                                   ">\n",   "% ",
                                                   "---\n", "\xC3\xA9",
                                                   "\xFF",  "99999999999999999999"};

std::string mutate(std::string text, const std::vector<std::uint32_t>& choices) {
  for (std::size_t i = 0; i + 2 < choices.size(); i += 3) {
    const std::size_t place = text.empty() ? 0 : choices[i] % text.size();
    const std::size_t length = std::min<std::size_t>(choices[i + 1] % 40, text.size() - place);
    switch (choices[i + 2] % 4) {
      case 0: text.erase(place, length); break;
      case 1: text.insert(place, kPieces[choices[i + 1] % kPieces.size()]); break;
      case 2: text.insert(place, text.substr(place, length)); break;
      default:
        if (!text.empty()) text[place] = static_cast<char>(choices[i + 1] % 256);
    }
  }
  return text;
}

void check_answer(const std::string& text) {
  const Loaded loaded =
      load_text(text, {{"TOKEN", "super-hush-hush-hush"}, {"KEY", "hush-hush-hush-hush"}});
  const bool has_errors = std::ranges::any_of(
      loaded.problems, [](const Problem& problem) { return problem.severity == Severity::kError; });
  RC_ASSERT(loaded.config.has_value() != has_errors);
  for (const std::string& problem : texts_of(loaded)) {
    RC_ASSERT(problem.find("hush") == std::string::npos);
    RC_ASSERT(problem.size() < 2'000U);
  }
  if (!loaded.config) return;
  RC_ASSERT(to_text(settings_of(*loaded.config, Which::kAll)).find("hush") == std::string::npos);
}

TEST(MutatedConfig, TheOriginalIsValid) {
  EXPECT_TRUE(load_text(kValid, {{"TOKEN", "super-hush-hush-hush"}, {"KEY", "hush-hush-hush-hush"}})
                  .config);
}

TEST(MutatedConfig, IsAConfigurationOrErrorsAndNeverACrash) {
  EXPECT_TRUE(rc::check([] {
    const auto choices = *rc::gen::resize(30, rc::gen::arbitrary<std::vector<std::uint32_t>>());
    check_answer(mutate(kValid, choices));
  }));
}

TEST(MutatedConfig, SoIsTheReference) {
  const std::string reference = reference_yaml();
  EXPECT_TRUE(rc::check([&reference] {
    const auto choices = *rc::gen::resize(12, rc::gen::arbitrary<std::vector<std::uint32_t>>());
    check_answer(mutate(reference, choices));
  }));
}

TEST(MutatedConfig, SoIsAnyTextAtAll) {
  EXPECT_TRUE(rc::check([](const std::string& text) { check_answer(text); }));
}

TEST(MutatedConfig, AnythingInTheEnvironmentAndInFlagsIsToo) {
  EXPECT_TRUE(rc::check([](const std::string& name, const std::string& value) {
    const Loaded loaded =
        load_text("", {{"RECOURSE__" + name, value}}, {name + "=" + value, value});
    RC_ASSERT(loaded.config || !loaded.problems.empty());
  }));
}

}  // namespace
}  // namespace recourse::app
