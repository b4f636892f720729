#include "degrade/frame.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace recourse::degrade {
namespace {

using Records = std::vector<std::string>;

std::string file_of(const Records& records) {
  std::string file;
  for (const std::string& record : records) file += to_frame(record);
  return file;
}

RC_GTEST_PROP(Frame, WhatWasWrittenIsRead, (const Records& records)) {
  const FramesRead read = read_frames(file_of(records));

  RC_ASSERT(read.records == records);
  RC_ASSERT(read.damaged == 0U);
}

// A crash cuts a file anywhere.
RC_GTEST_PROP(Frame, OfAnyPrefixTheWholeFramesAreRead, (const Records& records)) {
  const std::string file = file_of(records);
  const auto cut = *rc::gen::inRange<std::size_t>(0, file.size() + 1);
  std::size_t whole = 0;
  for (std::size_t end = 0; whole < records.size(); ++whole) {
    end += kFrameOverhead + records[whole].size();
    if (end > cut) break;
  }

  const FramesRead read = read_frames(std::string_view(file).substr(0, cut));

  RC_ASSERT(read.records ==
            Records(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(whole)));
  RC_ASSERT(read.damaged == 0U);
  RC_ASSERT(read.torn == cut - file_of(read.records).size());
}

// One bad byte costs one record, and is noticed, in the last one too.
RC_GTEST_PROP(Frame, DamageCostsWhatItHits, ()) {
  const auto records = *rc::gen::nonEmpty<Records>();
  std::string file = file_of(records);
  const auto at = *rc::gen::inRange<std::size_t>(0, file.size());
  file[at] = static_cast<char>(file[at] ^ *rc::gen::inRange(1, 256));
  std::size_t hit = 0;
  for (std::size_t end = kFrameOverhead + records[0].size(); end <= at;) {
    end += kFrameOverhead + records[++hit].size();
  }

  const FramesRead read = read_frames(file);

  Records left = records;
  left.erase(left.begin() + static_cast<std::ptrdiff_t>(hit));
  RC_ASSERT(read.records == left);
  RC_ASSERT(read.damaged == kFrameOverhead + records[hit].size());
  RC_ASSERT(read.torn == 0U);
}

// A record may hold anything, frames included.
TEST(Frame, AFrameInARecordIsNoFrame) {
  const Records records{to_frame("inner"), to_frame(to_frame("")), ""};

  EXPECT_EQ(read_frames(file_of(records)).records, records);
}

TEST(Frame, AnythingElseIsNoFrame) {
  EXPECT_TRUE(read_frames("").records.empty());
  EXPECT_TRUE(read_frames("not a spool at all").records.empty());
  EXPECT_EQ(read_frames("not a spool at all").damaged, 18U);
}

}  // namespace
}  // namespace recourse::degrade
