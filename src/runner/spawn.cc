#include "runner/spawn.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace recourse::runner {
namespace {

constexpr int kFirstOfOthers = 3;

struct Pipe {
  Fd read;
  Fd write;
};

// Above the standard three, which the child's ends are moved to: where the process runs without
// them, a pipe could be in its own way.
Fd above_standard(int fd) {
  Fd low(fd);
  if (fd < 0 || fd >= kFirstOfOthers) return low;
  return Fd(::fcntl(fd, F_DUPFD_CLOEXEC, kFirstOfOthers));
}

bool open_pipe(Pipe& pipe) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  pipe.read = above_standard(ends[0]);
  pipe.write = above_standard(ends[1]);
  return pipe.read.is_open() && pipe.write.is_open();
}

void do_not_block(const Fd& fd) { ::fcntl(fd.get(), F_SETFL, O_NONBLOCK); }

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  // Zero, or an errno.
  int set(const ChildSpec& spec, const std::array<int, 3>& standard) {
    int error = 0;
    for (int i = 0; i < kFirstOfOthers && error == 0; ++i) {
      error =
          posix_spawn_file_actions_adddup2(&actions_, standard.at(static_cast<std::size_t>(i)), i);
    }
    // Not all that a process has open is marked to be closed: libraries forget it.
    if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(&actions_, kFirstOfOthers);
    if (error == 0) {
      error = posix_spawn_file_actions_addchdir_np(&actions_, spec.working_directory.c_str());
    }
    return error;
  }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

// A group of its own, and every signal as a new program expects it.
class Attributes {
 public:
  Attributes() {
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~Attributes() { posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

// What exec wants: not const, though it changes nothing.
std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

Spawned not_run(int error) {
  Spawned none;
  none.error = error;
  return none;
}

}  // namespace

void Fd::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Spawned spawn(const ChildSpec& spec) {
  Pipe input;
  Pipe output;
  Pipe errors;
  if (!open_pipe(input) || !open_pipe(output) || !open_pipe(errors)) return not_run(errno);
  FileActions actions;
  int error = actions.set(spec, {input.read.get(), output.write.get(), errors.write.get()});
  if (error != 0) return not_run(error);
  const Attributes attributes;
  Spawned spawned;
  error = posix_spawn(&spawned.pid, spec.command.front().c_str(), actions.get(), attributes.get(),
                      pointers_to(spec.command).data(), pointers_to(spec.environment).data());
  if (error != 0) return not_run(error);
  // It is ours until it is waited for: its number cannot be another's yet.
  spawned.process = Fd(static_cast<int>(::syscall(SYS_pidfd_open, spawned.pid, 0)));
  if (!spawned.process.is_open()) {
    error = errno;
    ::kill(-spawned.pid, SIGKILL);
    ::waitpid(spawned.pid, nullptr, 0);
    return not_run(error);
  }
  spawned.input = std::move(input.write);
  spawned.output = std::move(output.read);
  spawned.errors = std::move(errors.read);
  for (const Fd* end : {&spawned.input, &spawned.output, &spawned.errors}) do_not_block(*end);
  return spawned;
}

}  // namespace recourse::runner
