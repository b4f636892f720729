#include "message/wakeup.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

#include "base/invariant.h"

namespace recourse::message {

Wakeup::Wakeup() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  invariant(event_ >= 0, "there is a file descriptor left for a message source");
}

Wakeup::~Wakeup() { ::close(event_); }

void Wakeup::wake() {
  const std::uint64_t one = 1;
  // Full means that it has been woken often enough.
  [[maybe_unused]] const ssize_t written = ::write(event_, &one, sizeof one);
}

bool Wakeup::woken() {
  std::uint64_t count = 0;
  return ::read(event_, &count, sizeof count) == sizeof count;
}

Wakeup::Cause Wakeup::wait(int socket, Deadline deadline) {
  std::array<pollfd, 2> files{pollfd{event_, POLLIN, 0}, pollfd{socket, POLLIN, 0}};
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    const int wait_ms = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
    const int ready = ::poll(files.data(), files.size(), wait_ms);
    if (ready < 0 && errno == EINTR) continue;
    if ((files[0].revents & POLLIN) != 0) return Cause::kWoken;
    // Errors and hang-ups are for whoever reads.
    return ready > 0 ? Cause::kReadable : Cause::kDeadline;
  }
}

}  // namespace recourse::message
