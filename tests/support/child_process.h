// A part of a test in a process of its own: other rights, other mounts, another owner of a file.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "base/function_ref.h"

namespace recourse::tests {

// True when nothing in it failed; its failures are printed. No other thread may run.
inline bool succeeds_in_child(FunctionRef<void()> work) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    std::fflush(nullptr);
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace recourse::tests
