// Two processes drain one database: each task is claimed once.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "store/contract/parallel.h"
#include "tests/store_faults_support.h"
#include "tests/support/full_form.h"
#include "tests/support/temporary_directory.h"

namespace recourse::tests {
namespace {

using namespace store;
using contract::claim_request;
using contract::kWithin;
using contract::must;
using contract::pending;
using contract::spec_of;
using task::Kind;
using task::Task;
using task::TaskId;

constexpr int kThreads = 16;
constexpr int kBatch = 100;

std::size_t task_count() { return is_full() ? 100'000 : 20'000; }

class TwoProcesses : public testing::TestWithParam<ServerKind> {
 protected:
  std::vector<TaskId> submit(std::size_t count) {
    const std::unique_ptr<OpenedStore> opened = must(open_at(GetParam(), database_.url()));
    UlidSource ids(clock_, 1);
    std::vector<TaskId> submitted;
    while (submitted.size() < count) {
      std::vector<Submission> batch;
      for (std::size_t i = 0; i < kBatchRowsMax; ++i) {
        batch.push_back(pending(TaskId(ids.next()), spec_of()));
        submitted.push_back(batch.back().id);
      }
      (void)must(opened->store().insert(batch, Novelty::kFresh, kWithin));
    }
    return submitted;
  }

  // As one node of many threads, until nothing is left.
  std::vector<TaskId> drain(std::uint64_t seed) {
    const std::unique_ptr<OpenedStore> opened = must(open_at(GetParam(), database_.url()));
    UlidSource ids(clock_, seed);
    const task::Incarnation self(ids.next());
    const std::vector<Quota> quotas{{.kind = Kind("mail"), .limit = kBatch}};
    Mutex mutex;
    std::vector<TaskId> claimed;
    contract::in_parallel(kThreads, [&](int) {
      // Twice empty, because what others have locked is skipped.
      for (int empty = 0; empty < 2;) {
        const ClaimRequest request = claim_request(self, task::LeaseId(ids.next()), quotas, kBatch);
        const std::vector<Task> tasks = must(opened->store().claim(request, kWithin)).tasks;
        empty = tasks.empty() ? empty + 1 : 0;
        MutexLock lock(mutex);
        for (const Task& task : tasks) claimed.push_back(task.id);
      }
    });
    return claimed;
  }

  ServerDatabase database_{GetParam()};
  TemporaryDirectory folder_;
  SystemClock clock_;
};

TEST_P(TwoProcesses, ClaimEachTaskOnce) {
  const std::vector<TaskId> submitted = submit(task_count());
  const std::filesystem::path report = folder_.path() / "claimed";

  // No thread and no connection is open here, so a copy of this process is whole.
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::ofstream out(report, std::ios::binary);
    for (const TaskId& id : drain(2)) {
      out.write(reinterpret_cast<const char*>(id.value.bytes.data()), sizeof(id.value.bytes));
    }
    out.close();
    ::_exit(out && !HasFailure() ? 0 : 1);
  }
  std::vector<TaskId> claimed = drain(3);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);

  const std::size_t here = claimed.size();
  std::ifstream in(report, std::ios::binary);
  Ulid id;
  while (in.read(reinterpret_cast<char*>(id.bytes.data()), sizeof(id.bytes))) {
    claimed.emplace_back(id);
  }
  EXPECT_GT(here, 0U);
  EXPECT_GT(claimed.size(), here) << "both have worked";
  for (const TaskId& last : drain(4)) claimed.push_back(last);
  std::ranges::sort(claimed);
  EXPECT_TRUE(claimed == submitted) << "each once, none left out: " << claimed.size();
}

INSTANTIATE_TEST_SUITE_P(Servers, TwoProcesses,
                         testing::Values(ServerKind::kPostgres, ServerKind::kMariadb), case_name);

}  // namespace
}  // namespace recourse::tests
