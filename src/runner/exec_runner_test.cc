#include "runner/exec_runner.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/text.h"
#include "runner/test_attempt.h"

namespace recourse::runner {
namespace {

using namespace std::chrono_literals;
using policy::Outcome;
using ::testing::HasSubstr;
using ::testing::Not;

ExecRunnerSettings shell(const std::string& script) {
  return {.command = {"/bin/sh", "-c", script},
          .environment = {{"PATH", "/usr/bin:/bin"}},
          .grace = 50ms};
}

engine::AttemptResult run(const ExecRunnerSettings& settings, task::Task task = test_task()) {
  return TestAttempt(std::move(task)).result_of(bind_exec(settings).value());
}

// What a script writes to its standard error comes back as the reason of a dead letter.
std::string words_of(const std::string& script, task::Task task = test_task()) {
  const policy::Decision decision = decided(run(shell(script + "; exit 1"), std::move(task)));
  EXPECT_EQ(decision.code, "EXIT_1");
  const std::string_view prefix = "exit status 1: ";
  EXPECT_THAT(decision.message, ::testing::StartsWith(std::string(prefix)));
  return decision.message.substr(std::min(prefix.size(), decision.message.size()));
}

// A pipe with a name: its reader learns when the last of its writers is gone.
class Fifo {
 public:
  Fifo() {
    std::string pattern = (std::filesystem::temp_directory_path() / "recourse-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    EXPECT_EQ(::mkfifo(path().c_str(), 0600), 0);
    reader_ = ::open(path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  }
  ~Fifo() {
    ::close(reader_);
    std::filesystem::remove_all(directory_);
  }
  Fifo(const Fifo&) = delete;
  Fifo& operator=(const Fifo&) = delete;

  [[nodiscard]] std::string path() const { return directory_ / "fifo"; }
  [[nodiscard]] bool everybody_is_gone() const {
    pollfd end{.fd = reader_, .events = 0, .revents = 0};
    return ::poll(&end, 1, 10'000) == 1 && (end.revents & POLLHUP) != 0;
  }
  // Waits for it.
  [[nodiscard]] std::string word() const {
    std::string word;
    std::ifstream(path()) >> word;
    return word;
  }

 private:
  std::filesystem::path directory_;
  int reader_ = -1;
};

TEST(ExecRunner, ExitStatusZeroIsDone) { EXPECT_TRUE(succeeded(run(shell("exit 0")))); }

TEST(ExecRunner, TryAgainLaterIsARetry) {
  const policy::Decision decision = decided(run(shell("echo 'no stock' >&2; exit 75")));

  EXPECT_EQ(decision.outcome, Outcome::kRetry);
  EXPECT_EQ(decision.code, "EXIT_75");
  EXPECT_EQ(decision.message, "exit status 75: no stock");
}

TEST(ExecRunner, EveryOtherStatusIsADeadLetter) {
  for (const int status : {1, 2, 64, 74, 76, 126, 127, 255}) {
    const policy::Decision decision = decided(run(shell("exit " + std::to_string(status))));
    EXPECT_EQ(decision.outcome, Outcome::kDeadLetter) << status;
    EXPECT_EQ(decision.code, "EXIT_" + std::to_string(status));
  }
}

TEST(ExecRunner, ACrashIsARetry) {
  const policy::Decision decision = decided(run(shell("echo oops >&2; kill -SEGV $$")));

  EXPECT_EQ(decision.outcome, Outcome::kRetry);
  EXPECT_EQ(decision.code, "SIGNAL_11");
  EXPECT_THAT(decision.message, HasSubstr("oops"));
}

TEST(ExecRunner, ACommandThatIsNotThereIsARetryThatSaysSo) {
  const policy::Decision decision = decided(run({.command = {"/nonexistent/program"}}));

  EXPECT_EQ(decision.outcome, Outcome::kRetry);
  EXPECT_EQ(decision.code, "NOT_RUN");
  EXPECT_THAT(decision.message, HasSubstr("No such file"));
}

TEST(ExecRunner, NoShellReadsTheArguments) {
  const policy::Decision decision =
      decided(run({.command = {"/bin/ls", "$(touch /never); echo *"}}));

  EXPECT_THAT(decision.message, HasSubstr("$(touch /never); echo *"));
}

TEST(ExecRunner, ThePayloadIsItsInputByteForByte) {
  task::Task task = test_task();
  task.spec.payload = std::string("{\"a\": \"\0\xFF\n\"}", 12);

  EXPECT_EQ(words_of("od -An -v -tx1 | tr -d ' \\n' >&2", task), "7b2261223a202200ff0a227d");
}

TEST(ExecRunner, TheLargestPayloadPassesWhileOutputIsRead) {
  task::Task task = test_task();
  task.spec.payload = std::string(task::kPayloadBytesMax - 7, 'x') + "the end";

  // All three pipes are full at some time, where nobody reads the two while writing the one.
  EXPECT_THAT(words_of("tee /dev/stderr", task), ::testing::EndsWith("the end"));
}

TEST(ExecRunner, AProgramThatDoesNotReadItsInputIsNoTrouble) {
  task::Task task = test_task();
  task.spec.payload = std::string(task::kPayloadBytesMax, 'x');

  EXPECT_TRUE(succeeded(run({.command = {"/bin/true"}}, task)));
  EXPECT_TRUE(succeeded(run(shell("exec <&-; echo late; exit 0"), task)));
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGPIPE), 0) << "the thread is as it was before";
}

TEST(ExecRunner, ItsEnvironmentIsWhatItIsGivenAndTheAttempt) {
  task::Task task = test_task();
  task.spec.trace_parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  ExecRunnerSettings settings{.command = {"/bin/sh", "-c", "/usr/bin/env >&2; exit 1"},
                              .environment = {{"GIVEN", "a b"}}};

  std::string words = decided(run(settings, task)).message;

  for (const char* line :
       {"GIVEN=a b\n", "RECOURSE_TASK=tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV\n",
        "RECOURSE_KIND=grant-points\n", "RECOURSE_ATTEMPT=3\n", "RECOURSE_FENCE=7\n",
        "RECOURSE_TICKET=tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV~7~"
        "01BX5ZZKBKACTAV9WEVGEMMVRZ\n",
        "TRACEPARENT=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}) {
    EXPECT_THAT(words + "\n", HasSubstr(line));
  }
  EXPECT_THAT(words, Not(HasSubstr("HOME=")));
}

TEST(ExecRunner, RunsWhereItIsTold) {
  ExecRunnerSettings settings = shell("pwd >&2; exit 1");
  settings.working_directory = "/usr";

  EXPECT_EQ(decided(run(settings)).message, "exit status 1: /usr");
}

TEST(ExecRunner, OnlyTheEndOfItsWordsIsKept) {
  const std::string words =
      words_of("i=0; while [ $i -lt 20000 ]; do echo \"line $i\"; i=$((i+1)); done >&2");

  EXPECT_THAT(words, ::testing::EndsWith("line 19999"));
  EXPECT_THAT(words, HasSubstr("line 19700"));
  EXPECT_LE(words.size(), kErrorCharactersMax);
}

TEST(ExecRunner, WhatItPrintsIsTheReasonWhereItDoesNotComplain) {
  EXPECT_EQ(words_of("echo printed"), "printed");
  EXPECT_EQ(words_of("echo printed; printf 'com\\033plained\\377' >&2"), "com plained\xEF\xBF\xBD");
}

TEST(ExecRunner, ItGetsNoDescriptorOfOurs) {
  const int ours = ::open("/dev/null", O_RDONLY);  // not marked to be closed
  ASSERT_GE(ours, 3);

  // The last is its own, for the list.
  EXPECT_EQ(words_of("ls /proc/self/fd >&2"), "0\n1\n2\n3");

  ::close(ours);
}

TEST(ExecRunner, ItsSignalsAreAsANewProgramExpectsThem) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  sigset_t some;
  sigset_t mask_before;
  sigemptyset(&some);
  sigaddset(&some, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &some, &mask_before);

  const std::string words = words_of("grep -E 'Sig(Blk|Ign)' /proc/self/status >&2");

  pthread_sigmask(SIG_SETMASK, &mask_before, nullptr);
  std::signal(SIGPIPE, before);
  EXPECT_THAT(words, HasSubstr("SigBlk:\t0000000000000000"));
  // But for 32 and 33, which glibc keeps to itself.
  EXPECT_THAT(words, ::testing::AnyOf(HasSubstr("SigIgn:\t0000000180000000"),
                                      HasSubstr("SigIgn:\t0000000000000000")));
}

TEST(ExecRunner, WhenItsTimeIsUpNothingOfItSurvives) {
  const Fifo fifo;
  task::Task task = test_task();
  task.spec.timeout = 300ms;

  // Neither it nor what it started listens to SIGTERM.
  const auto timed_out = failed<policy::TimedOut>(
      run(shell("trap '' TERM; exec 9>" + fifo.path() + "; sleep 1000 & sleep 1000; sleep 1000"),
          task));

  EXPECT_EQ(timed_out.limit, 300ms);
  EXPECT_TRUE(fifo.everybody_is_gone());
}

TEST(ExecRunner, AStopIsHeardAndMayEndWell) {
  const Fifo fifo;
  const std::string begun = "exec 9>" + fifo.path() + "; echo begun >&9; ";
  // `wait` and not `sleep`: a shell hears signals only between commands.
  for (const auto& [trap, ends_well] :
       {std::pair{"trap 'exit 0' TERM; ", true}, std::pair{"trap 'exit 3' TERM; ", false}}) {
    TestAttempt attempt;
    ExecRunnerSettings settings = shell(trap + begun + "sleep 1000 & wait");
    settings.grace = 20s;
    std::jthread thread([&] { attempt.start(bind_exec(settings).value()); });
    ASSERT_EQ(fifo.word(), "begun");

    attempt.run()->request_stop(engine::StopReason::kCutOff);

    const auto result = attempt.result();
    EXPECT_EQ(succeeded(result), ends_well);
    if (!ends_well) {
      EXPECT_EQ(decided(result).code, "TIMEOUT");
    }
    EXPECT_TRUE(fifo.everybody_is_gone());
  }
}

TEST(ExecRunner, WhatItLeavesBehindEndsWithItAndIsNotWaitedFor) {
  const Fifo fifo;

  // The one in the background keeps the pipes open.
  EXPECT_TRUE(succeeded(run(shell("exec 9>" + fifo.path() + "; sleep 1000 & exit 0"))));

  EXPECT_TRUE(fifo.everybody_is_gone());
}

TEST(ExecRunner, SettingsThatCannotWorkAreRefusedByName) {
  const auto error = [](ExecRunnerSettings settings) {
    const auto bound = bind_exec(std::move(settings));
    return bound ? std::string("taken") : bound.error().message;
  };
  EXPECT_THAT(error({.command = {}}), HasSubstr("exec.command"));
  EXPECT_THAT(error({.command = {"sh"}}), HasSubstr("absolute"));
  EXPECT_THAT(error({.command = {"/bin/sh"}, .working_directory = "tmp"}),
              HasSubstr("working_directory"));
  EXPECT_THAT(error({.command = {"/bin/sh"}, .environment = {{"RECOURSE_TASK", "x"}}}),
              HasSubstr("environment"));
  EXPECT_THAT(error({.command = {"/bin/sh"}, .environment = {{"A=B", "x"}}}),
              HasSubstr("environment"));
}

}  // namespace
}  // namespace recourse::runner
