#include "degrade/spool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "degrade/frame.h"

namespace recourse::degrade {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class SpoolTest : public ::testing::Test {
 protected:
  SpoolTest() {
    std::string pattern = (fs::temp_directory_path() / "spool-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~SpoolTest() override { fs::remove_all(directory_); }

  Result<std::unique_ptr<Spool>> open(std::size_t segment_bytes = 4096) {
    return Spool::open({.directory = directory_ / "spool",
                        .bytes_max = kSpoolBytesMin,
                        .segment_bytes = segment_bytes});
  }
  // All that waits, in its order; what was read is finished.
  static std::vector<std::string> drain(Spool& spool) {
    std::vector<std::string> records;
    while (const auto batch = spool.oldest().value()) {
      records.insert(records.end(), batch->records.begin(), batch->records.end());
      EXPECT_TRUE(spool.finish(*batch));
    }
    return records;
  }
  [[nodiscard]] std::vector<fs::path> files(std::string_view ending = ".spool") const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(directory_ / "spool")) {
      if (entry.path().extension() == ending) found.push_back(entry.path());
    }
    std::ranges::sort(found);
    return found;
  }

  fs::path directory_;
};

TEST_F(SpoolTest, GivesBackWhatItTookAndIsEmptyThen) {
  const auto spool = open().value();
  EXPECT_TRUE(spool->empty());
  ASSERT_TRUE(spool->append("one"));
  ASSERT_TRUE(spool->append(""));
  ASSERT_TRUE(spool->append("three"));
  EXPECT_FALSE(spool->empty());

  EXPECT_THAT(drain(*spool), ElementsAre("one", "", "three"));

  EXPECT_TRUE(spool->empty());
  EXPECT_EQ(spool->bytes(), 0U);
  EXPECT_TRUE(files().empty());
}

TEST_F(SpoolTest, WhatIsNotFinishedIsReadAgainAlsoAfterARestart) {
  {
    const auto spool = open().value();
    ASSERT_TRUE(spool->append("kept"));
    EXPECT_EQ(spool->oldest().value()->records.size(), 1U);
    EXPECT_EQ(spool->oldest().value()->records.size(), 1U);
    ASSERT_TRUE(spool->append("later"));
  }
  const auto spool = open().value();

  EXPECT_FALSE(spool->empty());
  EXPECT_GT(spool->bytes(), 0U);
  EXPECT_THAT(drain(*spool), ElementsAre("kept", "later"));
}

// kill -9 in a process that fills it: what it was told is safe is there.
TEST_F(SpoolTest, WhatWasAcknowledgedOutlivesItsProcess) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto spool = open().value();
    for (int i = 0;; ++i) {
      if (!spool->append(std::to_string(i))) ::_exit(1);
      if (::write(pipe_ends[1], &i, sizeof i) != sizeof i) ::_exit(1);
    }
  }
  ::close(pipe_ends[1]);
  int last = -1;
  while (last < 50) ASSERT_EQ(::read(pipe_ends[0], &last, sizeof last), ssize_t{sizeof last});
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  int more = 0;
  while (::read(pipe_ends[0], &more, sizeof more) == sizeof more) last = more;
  ::close(pipe_ends[0]);

  const auto records = drain(*open().value());

  ASSERT_GT(records.size(), static_cast<std::size_t>(last));
  for (int i = 0; i <= last; ++i)
    EXPECT_EQ(records[static_cast<std::size_t>(i)], std::to_string(i));
}

TEST_F(SpoolTest, ATornLastFrameCostsNothingElse) {
  ASSERT_TRUE(open().value()->append("whole"));
  {
    std::ofstream file(files().front(), std::ios::binary | std::ios::app);
    file << to_frame("never acknowledged").substr(0, 20);
  }
  const auto spool = open().value();
  ASSERT_TRUE(spool->append("next"));

  const auto batch = spool->oldest().value().value();

  EXPECT_THAT(batch.records, ElementsAre("whole"));
  EXPECT_EQ(batch.damaged, 0U);
  EXPECT_EQ(spool->torn_bytes(), 20U);
  EXPECT_THAT(drain(*spool), ElementsAre("whole", "next"));
}

// It dies twice while the store is away: the torn end of the first time is no damage the second.
TEST_F(SpoolTest, ATornEndIsForgottenOnce) {
  ASSERT_TRUE(open().value()->append("whole"));
  std::ofstream(files().front(), std::ios::binary | std::ios::app)
      << to_frame("never acknowledged").substr(0, 20);
  ASSERT_TRUE(open().value()->append("next"));

  const auto spool = open().value();

  EXPECT_EQ(spool->torn_bytes(), 0U);
  EXPECT_EQ(spool->oldest().value()->damaged, 0U);
  EXPECT_THAT(drain(*spool), ElementsAre("whole", "next"));
}

// The last record was acknowledged as the others were: one bad bit in it is no torn end.
TEST_F(SpoolTest, DamageToTheLastRecordIsDamage) {
  {
    const auto spool = open().value();
    ASSERT_TRUE(spool->append("first"));
    ASSERT_TRUE(spool->append("last"));
  }
  {
    std::fstream file(files().front(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(-1, std::ios::end);
    file.put('!');
  }
  const auto spool = open().value();

  const auto batch = spool->oldest().value().value();

  EXPECT_THAT(batch.records, ElementsAre("first"));
  EXPECT_EQ(batch.damaged, to_frame("last").size());
  EXPECT_EQ(spool->torn_bytes(), 0U);
}

// Others were written after it, so its end was too.
TEST_F(SpoolTest, AnOlderSegmentThatIsCutShortIsDamaged) {
  {
    const auto spool = open(1).value();
    ASSERT_TRUE(spool->append("first"));
    ASSERT_TRUE(spool->append("second"));
  }
  ASSERT_EQ(files().size(), 2U);
  fs::resize_file(files().front(), fs::file_size(files().front()) - 1);

  const auto spool = open(1).value();

  EXPECT_GT(spool->oldest().value()->damaged, 0U);
  EXPECT_EQ(spool->torn_bytes(), 0U);
}

// What this process was told is safe is missed however the file was cut.
TEST_F(SpoolTest, WhatVanishesWhileItIsOpenIsMissed) {
  const auto spool = open().value();
  ASSERT_TRUE(spool->append("first"));
  ASSERT_TRUE(spool->append("second"));
  fs::resize_file(files().front(), to_frame("first").size());

  const auto batch = spool->oldest().value().value();

  EXPECT_THAT(batch.records, ElementsAre("first"));
  EXPECT_EQ(batch.damaged, to_frame("second").size());
}

TEST_F(SpoolTest, WhatIsSetAsideIsKeptButNotReadAgain) {
  const auto spool = open().value();
  ASSERT_TRUE(spool->append("strange"));
  const std::size_t bytes = spool->bytes();

  ASSERT_TRUE(spool->set_aside(spool->oldest().value().value()));

  EXPECT_TRUE(spool->empty());
  EXPECT_EQ(files(".aside").size(), 1U);
  EXPECT_EQ(spool->bytes(), bytes);
}

TEST_F(SpoolTest, AFullOneSaysSoAndTakesMoreOnceItIsEmptied) {
  const auto spool = open().value();
  const std::string record(100'000, 'x');
  std::size_t taken = 0;
  Result<> last;
  while ((last = spool->append(record))) ++taken;

  EXPECT_EQ(last.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(last.error().message, HasSubstr("is full"));
  EXPECT_LE(spool->bytes(), kSpoolBytesMin);
  EXPECT_EQ(taken, kSpoolBytesMin / (record.size() + kFrameOverhead));
  EXPECT_EQ(drain(*spool).size(), taken);
  EXPECT_TRUE(spool->append(record));
}

TEST_F(SpoolTest, BelongsToOneAtATime) {
  const auto mine = open().value();

  const auto second = open();

  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kConflict);
  EXPECT_THAT(second.error().message, HasSubstr("directory of its own"));
}

TEST_F(SpoolTest, ADirectoryThatCannotBeMadeIsSaidSo) {
  std::ofstream(directory_ / "file") << "x";

  const auto spool = Spool::open({.directory = directory_ / "file" / "spool"});

  ASSERT_FALSE(spool);
  EXPECT_EQ(spool.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(spool.error().message, HasSubstr("cannot make"));
}

// Many callers share a flush, while somebody empties it: nothing is lost, and nothing twice.
TEST_F(SpoolTest, TakesFromManyWhileOneEmptiesIt) {
  const auto spool = open(2'000).value();
  constexpr int kThreads = 8;
  constexpr int kEach = 200;
  std::atomic<int> working = kThreads;
  std::vector<std::jthread> crowd;
  for (int t = 0; t < kThreads; ++t) {
    crowd.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        EXPECT_TRUE(spool->append(std::to_string(t * kEach + i)));
      }
      --working;
    });
  }
  std::multiset<std::string> got;
  while (working > 0 || !spool->empty()) {
    for (std::string& record : drain(*spool)) got.insert(std::move(record));
  }
  crowd.clear();
  for (std::string& record : drain(*spool)) got.insert(std::move(record));

  EXPECT_EQ(got.size(), static_cast<std::size_t>(kThreads * kEach));
  for (int i = 0; i < kThreads * kEach; ++i) EXPECT_EQ(got.count(std::to_string(i)), 1U) << i;
}

}  // namespace
}  // namespace recourse::degrade
