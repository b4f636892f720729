// What a process that may be killed writes down: a line at a time, so that a kill loses at most the
// line that is being written.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace recourse::tests {

class Ledger {
 public:
  explicit Ledger(const char* path)
      : file_(::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644)) {}

  // One write: lines of several threads do not mix.
  void write(const std::string& line) const {
    if (::write(file_, line.data(), line.size()) < 0) std::abort();
  }

 private:
  int file_;
};

}  // namespace recourse::tests
