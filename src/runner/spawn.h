// Starting a program with pipes to it.
#pragma once

#include <sys/types.h>

#include <utility>

#include "runner/child.h"

namespace recourse::runner {

// A descriptor that is closed with its owner.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() { close(); }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  void close();

 private:
  int fd_ = -1;
};

struct Spawned {
  // Its errno where it was not started.
  int error = 0;
  pid_t pid = -1;
  Fd process;  // readable when it has ended
  // Our ends; none of them blocks.
  Fd input;
  Fd output;
  Fd errors;
};

Spawned spawn(const ChildSpec& spec);

}  // namespace recourse::runner
