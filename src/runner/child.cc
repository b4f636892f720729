#include "runner/child.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <optional>

#include "runner/spawn.h"

namespace recourse::runner {
namespace {

using Time = std::chrono::steady_clock::time_point;

// Writing to a program that does not read raises a signal in the thread that writes. Held back
// here, and taken off before the thread's mask is as it was.
class NoSigpipe {
 public:
  NoSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigemptyset(&pending);
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoSigpipe() {
    constexpr timespec kAtOnce{};
    while (!was_pending_ && sigtimedwait(&pipe_, nullptr, &kAtOnce) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

// The end of what a program says.
class Tail {
 public:
  // False: nothing more comes.
  bool read_from(const Fd& fd) {
    std::array<char, 16 * 1024> buffer{};
    const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    text_.append(buffer.data(), static_cast<std::size_t>(count));
    if (text_.size() > kOutputTailBytes) text_.erase(0, text_.size() - kOutputTailBytes);
    return count > 0;
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

class Watch {
 public:
  Watch(const ChildSpec& spec, Spawned child, int stop_event)
      : child_(std::move(child)),
        stop_event_(stop_event),
        unsent_(spec.input),
        grace_(spec.grace),
        deadline_(std::chrono::steady_clock::now() + std::min(spec.limit, kLongestWait)) {
    if (unsent_.empty()) child_.input.close();
  }

  ChildEnd run() {
    while (!has_ended_) turn();
    // It is a zombie until it is waited for, so that the group's number is still its own.
    ::kill(-child_.pid, SIGKILL);
    drain(child_.output, output_);
    drain(child_.errors, errors_);
    return reap();
  }

 private:
  void turn();
  void send();
  void read(Fd& fd, Tail& tail);
  void drain(const Fd& fd, Tail& tail);
  void move_on();
  ChildEnd reap();
  [[nodiscard]] int patience() const;

  Spawned child_;
  int stop_event_;
  std::string_view unsent_;
  const Duration grace_;
  // Of the limit, then of the grace; none once it was killed.
  std::optional<Time> deadline_;
  bool told_to_end_ = false;
  bool has_ended_ = false;
  ChildEnd end_;
  Tail output_;
  Tail errors_;
};

int Watch::patience() const {
  if (!deadline_) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(*deadline_ - std::chrono::steady_clock::now());
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(1);
  return static_cast<int>(std::clamp(left, std::chrono::milliseconds(0), kLongest).count());
}

void Watch::turn() {
  // A negative descriptor is passed over.
  std::array<pollfd, 5> waiting{
      {{.fd = child_.process.get(), .events = POLLIN, .revents = 0},
       {.fd = told_to_end_ ? -1 : stop_event_, .events = POLLIN, .revents = 0},
       {.fd = child_.input.get(), .events = POLLOUT, .revents = 0},
       {.fd = child_.output.get(), .events = POLLIN, .revents = 0},
       {.fd = child_.errors.get(), .events = POLLIN, .revents = 0}}};
  if (::poll(waiting.data(), waiting.size(), patience()) < 0) return;  // a signal: look again
  if (waiting[2].revents != 0) send();
  if (waiting[3].revents != 0) read(child_.output, output_);
  if (waiting[4].revents != 0) read(child_.errors, errors_);
  has_ended_ = waiting[0].revents != 0;
  const bool is_late = deadline_ && std::chrono::steady_clock::now() >= *deadline_;
  const bool is_stopped = waiting[1].revents != 0;
  if (has_ended_ || !(is_late || is_stopped)) return;
  if (!told_to_end_) (is_stopped ? end_.stopped : end_.timed_out) = true;
  move_on();
}

// First it is asked, the whole group at once; then nobody is asked any more.
void Watch::move_on() {
  ::kill(-child_.pid, told_to_end_ ? SIGKILL : SIGTERM);
  if (told_to_end_) {
    deadline_.reset();
  } else {
    deadline_ = std::chrono::steady_clock::now() + grace_;
  }
  told_to_end_ = true;
}

void Watch::send() {
  const ssize_t count = ::write(child_.input.get(), unsent_.data(), unsent_.size());
  if (count > 0) unsent_.remove_prefix(static_cast<std::size_t>(count));
  // It need not read what it is given: its end is what counts.
  const bool is_broken = count < 0 && errno != EAGAIN && errno != EINTR;
  if (unsent_.empty() || is_broken) child_.input.close();
}

void Watch::read(Fd& fd, Tail& tail) {
  if (!tail.read_from(fd)) fd.close();
}

// What lies in the pipe, and no more: whoever else holds its other end may go on for ever.
void Watch::drain(const Fd& fd, Tail& tail) {
  constexpr int kReadsMax = 64;
  for (int i = 0; i < kReadsMax && fd.is_open(); ++i) {
    pollfd ready{.fd = fd.get(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, 0) <= 0 || !tail.read_from(fd)) return;
  }
}

ChildEnd Watch::reap() {
  int status = 0;
  pid_t reaped = -1;
  do {
    reaped = ::waitpid(child_.pid, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  if (reaped < 0) {
    end_.how = ChildEnd::How::kNotRun;  // somebody else waited for it: how it ended is lost
    end_.code = errno;
  } else if (WIFEXITED(status)) {
    end_.how = ChildEnd::How::kExited;
    end_.code = WEXITSTATUS(status);
  } else {
    end_.how = ChildEnd::How::kSignalled;
    end_.code = WTERMSIG(status);
  }
  end_.output = output_.take();
  end_.errors = errors_.take();
  return std::move(end_);
}

}  // namespace

ChildEnd run_child(const ChildSpec& spec, const std::stop_token& stop) {
  const Fd stop_event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop_event.is_open()) return {.how = ChildEnd::How::kNotRun, .code = errno};
  const std::stop_callback on_stop(stop, [fd = stop_event.get()] { (void)::eventfd_write(fd, 1); });
  const NoSigpipe no_sigpipe;
  Spawned child = spawn(spec);
  if (child.error != 0) return {.how = ChildEnd::How::kNotRun, .code = child.error};
  return Watch(spec, std::move(child), stop_event.get()).run();
}

}  // namespace recourse::runner
