#include "cli/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <sstream>

#include "cli/display_text.h"

namespace recourse::cli {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr TimePoint kStart{};

TEST(ProgressLine, ShowsAShareACountAndTheTimeLeft) {
  EXPECT_EQ(progress_line({.label = "Retrying", .done = 400, .total = 1'000, .elapsed = 8s}, 80),
            "Retrying  [############                    ]   40%  400 of 1,000  about 13s left");
}

TEST(ProgressLine, WithoutATotalIsACount) {
  EXPECT_EQ(progress_line({.label = "Copying", .done = 1'234'567}, 80), "Copying  1,234,567");
}

TEST(ProgressLine, LeavesOutTheBarWhereThereIsNoRoom) {
  EXPECT_EQ(progress_line({.label = "Retrying", .done = 5, .total = 5}, 30),
            "Retrying  100%  5 of 5");
}

TEST(ProgressLine, NeverFillsMoreThanItsWidth) {
  EXPECT_TRUE(rc::check(
      [](const std::string& label, std::uint16_t done, std::uint16_t total, std::uint8_t width) {
        const std::string line = progress_line(
            {.label = label, .done = done, .total = total, .elapsed = Duration(done)}, width);
        RC_ASSERT(width_of(line) <= width);
      }));
}

TEST(Progress, SaysNothingInTheFirstSecondAndWithoutATerminal) {
  std::ostringstream out;
  {
    Progress quick(out, 80, "Retrying", 100, kStart);
    quick.update(99, kStart + 999ms);
    Progress piped(out, std::nullopt, "Retrying", 100, kStart);
    piped.update(50, kStart + 1h);
  }

  EXPECT_EQ(out.str(), "");
}

TEST(Progress, IsDrawnTenTimesASecondAtMost) {
  std::ostringstream out;
  Progress progress(out, 80, "Retrying", 2'000, kStart);

  for (std::size_t i = 0; i <= 2'000; ++i) progress.update(i, kStart + i * 1ms);

  const std::string text = out.str();
  EXPECT_EQ(std::ranges::count(text, '\r'), 11) << "at 1.0s, 1.1s, ... 2.0s";
  EXPECT_THAT(text, HasSubstr("\r\x1b[KRetrying  ["));
}

TEST(Progress, TakesItselfAway) {
  std::ostringstream out;
  {
    Progress progress(out, 80, "Retrying", 10, kStart);
    progress.update(1, kStart + 2s);
    out.str("");
  }

  EXPECT_EQ(out.str(), "\r\x1b[K");
}

}  // namespace
}  // namespace recourse::cli
