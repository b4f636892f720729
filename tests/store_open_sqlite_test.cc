// What can be wrong with a SQLite file or its disk: a clear error that says what to do, nothing
// changed, and work goes on when the cause is gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/ulid_source.h"
#include "sql/sqlite/connection.h"
#include "store/contract/contract.h"
#include "store/sqlite/sqlite_store.h"
#include "tests/support/child_process.h"
#include "tests/support/temporary_directory.h"

namespace recourse::tests {
namespace {

using namespace store;
using contract::code_of;
using contract::kWithin;
using contract::must;
using contract::pending;
using contract::spec_of;
using task::Kind;
using task::State;
using task::TaskId;
using testing::HasSubstr;

class SqliteOpening : public testing::Test {
 protected:
  using Opened = std::unique_ptr<OpenedStore>;

  [[nodiscard]] std::string file() const { return directory_.path() / "store.db"; }
  Result<Opened> open_file(const std::string& path) { return sqlite::open(path, clock_); }
  Error refusal(const std::string& path) {
    const Result<Opened> opened = open_file(path);
    return opened ? Error{ErrorCode::kInDoubt, "it opens"} : opened.error();
  }

  Result<InsertAnswer> insert(OpenedStore& opened, std::size_t payload_bytes = 1) {
    task::TaskSpec spec = spec_of();
    spec.payload = std::string(payload_bytes, 'x');
    return opened.store().insert(std::vector{pending(TaskId(ids_.next()), spec)}, Novelty::kFresh,
                                 kWithin);
  }
  static std::int64_t pending_tasks(OpenedStore& opened) {
    Counts counts = must(opened.reader().counts(kWithin));
    return counts[{Kind("mail"), State::kPending}];
  }
  static std::string bytes_of(const std::string& path) {
    std::ostringstream bytes;
    bytes << std::ifstream(path, std::ios::binary).rdbuf();
    return bytes.str();
  }
  static void write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  TemporaryDirectory directory_;
  SystemClock clock_;
  UlidSource ids_{clock_, 3};
};

TEST_F(SqliteOpening, RefusesASecondProcessAndNamesTheFirst) {
  std::array<int, 2> go{};
  ASSERT_EQ(::pipe(go.data()), 0);
  std::array<int, 2> tried{};
  ASSERT_EQ(::pipe(tried.data()), 0);
  const pid_t first = ::getpid();
  // The child is there before the file is opened, so that it inherits no lock.
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(go[1]);
    ::close(tried[0]);
    char byte = 0;
    EXPECT_EQ(::read(go[0], &byte, 1), 1);
    const Error refused = refusal(file());
    EXPECT_EQ(refused.code, ErrorCode::kExhausted);
    EXPECT_THAT(refused.message, HasSubstr("process " + std::to_string(first)));
    EXPECT_THAT(refused.message, HasSubstr("one process"));
    EXPECT_EQ(::write(tried[1], "x", 1), 1);
    // The other one ends: its end of the pipe is closed.
    EXPECT_EQ(::read(go[0], &byte, 1), 0);
    EXPECT_EQ(code_of(open_file(file())), std::nullopt);
    ::_exit(HasFailure() ? 1 : 0);
  }
  ::close(go[0]);
  {
    const Opened opened = must(open_file(file()));
    ASSERT_EQ(::write(go[1], "x", 1), 1);
    EXPECT_EQ(code_of(insert(*opened)), std::nullopt);
    EXPECT_EQ(refusal(file()).code, ErrorCode::kExhausted) << "nor twice in one process";
    char byte = 0;
    EXPECT_EQ(::read(tried[0], &byte, 1), 1);
  }
  ::close(go[1]);
  ::close(tried[0]);
  ::close(tried[1]);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(SqliteOpening, SaysThatTheDirectoryIsMissing) {
  const std::string path = directory_.path() / "missing" / "store.db";

  const Error refused = refusal(path);

  EXPECT_EQ(refused.code, ErrorCode::kInvalid);
  EXPECT_THAT(refused.message, HasSubstr("check that the directory exists"));
  EXPECT_THAT(refused.message, HasSubstr(path));
  std::filesystem::create_directory(directory_.path() / "missing");
  EXPECT_EQ(code_of(open_file(path)), std::nullopt);
}

TEST_F(SqliteOpening, LeavesAFileAloneThatIsNoDatabase) {
  const std::string diary(10'000, 'd');
  write(file(), diary);

  const Error refused = refusal(file());

  EXPECT_EQ(refused.code, ErrorCode::kCorrupt);
  EXPECT_THAT(refused.message, HasSubstr("name another one"));
  EXPECT_EQ(bytes_of(file()), diary);
}

TEST_F(SqliteOpening, RefusesANewerSchemaAndChangesNothing) {
  (void)must(open_file(file()));
  const auto set_schema = [&](const std::string& version) {
    const auto connection = must(sql::sqlite::open(file(), sql::sqlite::Access::kWrite));
    return code_of(
        connection->run("UPDATE recourse_meta SET value = " + version + " WHERE name = 'schema'"));
  };
  ASSERT_EQ(set_schema("999"), std::nullopt);
  const std::string before = bytes_of(file());

  const Error refused = refusal(file());

  EXPECT_EQ(refused.code, ErrorCode::kInvalid);
  EXPECT_THAT(refused.message, HasSubstr("schema 999"));
  EXPECT_THAT(refused.message, HasSubstr("at least as new"));
  EXPECT_EQ(bytes_of(file()), before);
  ASSERT_EQ(set_schema("1"), std::nullopt);
  EXPECT_EQ(code_of(open_file(file())), std::nullopt);
}

TEST_F(SqliteOpening, SaysThatItMayNotWrite) {
  std::filesystem::permissions(directory_.path(), std::filesystem::perms(0555));
  EXPECT_TRUE(succeeds_in_child([&] {
    // Root may write anywhere.
    if (::geteuid() == 0) {
      ASSERT_EQ(::seteuid(65'534), 0);
    }
    const Error refused = refusal(file());
    EXPECT_EQ(refused.code, ErrorCode::kInvalid);
    EXPECT_THAT(refused.message, HasSubstr("may write there"));
  }));
  EXPECT_FALSE(std::filesystem::exists(file()));
  std::filesystem::permissions(directory_.path(), std::filesystem::perms(0777));
  EXPECT_TRUE(succeeds_in_child([&] {
    if (::geteuid() == 0) {
      ASSERT_EQ(::seteuid(65'534), 0);
    }
    const Opened opened = must(open_file(file()));
    EXPECT_EQ(code_of(insert(*opened)), std::nullopt);
  }));
}

// A disk of its own, of four megabytes, in a mount namespace of its own.
class SqliteOnASmallDisk : public SqliteOpening {
 protected:
  static bool mount_at(const std::filesystem::path& path) {
    const bool apart = ::unshare(CLONE_NEWNS) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
    // Inside a chroot "/" is no mount of its own, and there is nothing to keep to ourselves.
    const bool unseen =
        apart &&
        (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 || errno == EINVAL);
    return unseen && ::mount("none", path.c_str(), "tmpfs", 0, "size=4m") == 0;
  }
  // Leaves nothing, or the rest of it when the filler is removed.
  [[nodiscard]] std::string filler() const { return directory_.path() / "filler"; }
  void fill(std::size_t bytes) const { write(filler(), std::string(bytes, 'f')); }

  void in_small_disk(FunctionRef<void()> work) {
    EXPECT_TRUE(succeeds_in_child([&] {
      ASSERT_TRUE(mount_at(directory_.path())) << "this test needs root, or user namespaces";
      work();
    }));
  }
};

TEST_F(SqliteOnASmallDisk, SaysAtTheStartThatItIsFull) {
  in_small_disk([&] {
    fill(4 * 1024 * 1024);

    const Error refused = refusal(file());

    EXPECT_EQ(refused.code, ErrorCode::kUnavailable) << refused.message;
    EXPECT_THAT(refused.message, HasSubstr("make room on the disk"));
    std::filesystem::remove(filler());
    const Opened opened = must(open_file(file()));
    EXPECT_EQ(code_of(insert(*opened)), std::nullopt);
  });
}

TEST_F(SqliteOnASmallDisk, SaysInTheMiddleThatItIsFullAndGoesOnWhenThereIsRoom) {
  in_small_disk([&] {
    const Opened opened = must(open_file(file()));
    fill(2 * 1024 * 1024);
    std::int64_t inserted = 0;
    Result<InsertAnswer> answer = insert(*opened, 50'000);
    for (; answer && inserted < 1'000; answer = insert(*opened, 50'000)) ++inserted;

    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable) << answer.error().message;
    EXPECT_THAT(answer.error().message, HasSubstr("make room on the disk"));
    EXPECT_GT(inserted, 0);
    EXPECT_EQ(pending_tasks(*opened), inserted) << "reading goes on";

    std::filesystem::remove(filler());
    EXPECT_EQ(code_of(insert(*opened, 50'000)), std::nullopt);
    EXPECT_EQ(pending_tasks(*opened), inserted + 1);
  });
}

}  // namespace
}  // namespace recourse::tests
