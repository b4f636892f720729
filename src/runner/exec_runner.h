// Kinds whose handler is a program on this machine: the payload on its standard input, its exit
// status the end.
//
//   0        done
//   75       retried (EX_TEMPFAIL of sysexits.h: try again later)
//   others   a dead letter: the program has said no
//   signal   retried: a crash, or memory that ran out, says nothing of the task; its retries are
//            counted all the same, so that one that always crashes ends in front of a person
//   not run  retried: a deployment may be replacing the program right now
//
// The end of what it wrote to standard error (of standard output where that is empty) is the
// reason. When its time is up, or the attempt is stopped, its process group gets SIGTERM, and
// SIGKILL after a grace period; where it then ends with 0 all the same, it is done.
//
// It holds a thread of the executor while it runs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "engine/attempt_run.h"

namespace recourse::runner {

struct ExecRunnerSettings {
  // An absolute path, and the arguments as they are: no shell reads them.
  std::vector<std::string> command;
  std::string working_directory = "/";
  // All that it gets, but for RECOURSE_TASK, RECOURSE_KIND, RECOURSE_ATTEMPT, RECOURSE_FENCE,
  // RECOURSE_TICKET and TRACEPARENT. What of its own environment the process passes on, such as
  // PATH, is for whoever reads the configuration to say.
  std::map<std::string, std::string> environment = {};
  // Between SIGTERM and SIGKILL.
  Duration grace = std::chrono::seconds(5);
};

Result<> validate(const ExecRunnerSettings& settings);

// For a kind that is not asynchronous.
Result<engine::Handler> bind_exec(ExecRunnerSettings settings);

}  // namespace recourse::runner
