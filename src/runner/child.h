// A program run for one attempt: input in, output out, and no trace of it afterwards.
//
// Invariants
//   1. It gets the descriptors 0, 1 and 2 and no other, no signal blocked or ignored, the
//      environment it is given and nothing else.
//   2. It leads a process group of its own, which is killed at its end, however that came: what it
//      started does not outlive it (but for what leaves the group on purpose).
//   3. Nothing it does to its pipes blocks us, fills our memory or kills us.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace recourse::runner {

// What is kept of an output: its end, where programs say what went wrong.
inline constexpr std::size_t kOutputTailBytes = std::size_t{4} * 1024;

struct ChildSpec {
  // An absolute path, and the arguments. No shell reads it.
  const std::vector<std::string>& command;
  // NAME=VALUE.
  const std::vector<std::string>& environment;
  const std::string& working_directory;
  std::string_view input;
  // Then it is told to end (SIGTERM)...
  Duration limit;
  // ...and killed where it has not, so much later.
  Duration grace;
};

struct ChildEnd {
  enum class How : std::uint8_t {
    kExited,     // code is its exit status
    kSignalled,  // code is the signal
    kNotRun,     // code is why (errno)
  };
  How how = How::kNotRun;
  int code = 0;
  // Its time was up, or it was stopped, and it was told so; it may have ended well all the same.
  bool timed_out = false;
  bool stopped = false;
  // The last of both.
  std::string output = {};
  std::string errors = {};
};

// Waits for its end. It is told to end where the token says so, too.
ChildEnd run_child(const ChildSpec& spec, const std::stop_token& stop);

}  // namespace recourse::runner
