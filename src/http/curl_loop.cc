#include "http/curl_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

namespace recourse::http {
namespace {

constexpr std::size_t kEventsAtOnce = 256;

std::uint32_t interest_of(int what) {
  switch (what) {
    case CURL_POLL_IN: return EPOLLIN;
    case CURL_POLL_OUT: return EPOLLOUT;
    case CURL_POLL_INOUT: return EPOLLIN | EPOLLOUT;
    default: return 0;
  }
}

int select_mask_of(std::uint32_t events) {
  return ((events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
         ((events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
         ((events & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0);
}

void set_interest(int epoll, int fd, std::uint32_t interest) {
  epoll_event event{};
  event.events = interest;
  event.data.fd = fd;
  // A number that was closed and given out again is no longer known, whatever libcurl remembers.
  if (epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event) != 0 && errno == ENOENT) {
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
  }
}

}  // namespace

OwnedFd::~OwnedFd() {
  if (fd_ >= 0) ::close(fd_);
}

CurlLoop::CurlLoop()
    : epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      multi_(curl_multi_init()) {}

Result<std::unique_ptr<CurlLoop>> CurlLoop::open(int connections_kept) {
  std::unique_ptr<CurlLoop> loop(new CurlLoop());
  if (loop->epoll_.get() < 0 || loop->wake_.get() < 0 || loop->multi_ == nullptr) {
    return fail(ErrorCode::kExhausted,
                "the HTTP client cannot open what it needs: is the limit of open files reached?");
  }
  set_interest(loop->epoll_.get(), loop->wake_.get(), EPOLLIN);
  CURLM* multi = loop->multi_.get();
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &on_socket);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, loop.get());
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &on_timer);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, loop.get());
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, static_cast<long>(connections_kept));
  return loop;
}

int CurlLoop::on_socket(CURL*, curl_socket_t socket, int what, void* self, void*) {
  const int epoll = static_cast<CurlLoop*>(self)->epoll_.get();
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(epoll, EPOLL_CTL_DEL, socket, nullptr);
  } else {
    set_interest(epoll, socket, interest_of(what));
  }
  return 0;
}

int CurlLoop::on_timer(CURLM*, long milliseconds, void* self) {
  auto& loop = *static_cast<CurlLoop*>(self);
  if (milliseconds < 0) {
    loop.timer_.reset();
  } else {
    loop.timer_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  }
  return 0;
}

// Rounded up: a wait that ends early would only be followed by another.
int CurlLoop::patience_until(Time until) const {
  if (timer_) until = std::min(until, *timer_);
  const auto now = std::chrono::steady_clock::now();
  if (until <= now) return 0;
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(1);
  const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::min<std::chrono::nanoseconds>(until - now, kLongest));
  return static_cast<int>(wait.count()) + 1;
}

void CurlLoop::turn(Time until) {
  std::array<epoll_event, kEventsAtOnce> events{};
  const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                               patience_until(until));
  int running = 0;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events.at(static_cast<std::size_t>(i));
    if (event.data.fd == wake_.get()) {
      eventfd_t ignored = 0;
      (void)eventfd_read(wake_.get(), &ignored);
    } else {
      curl_multi_socket_action(multi_.get(), event.data.fd, select_mask_of(event.events), &running);
    }
  }
  if (timer_ && std::chrono::steady_clock::now() >= *timer_) {
    timer_.reset();
    curl_multi_socket_action(multi_.get(), CURL_SOCKET_TIMEOUT, 0, &running);
  }
}

std::optional<CurlLoop::Finished> CurlLoop::next_finished() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
    if (message->msg == CURLMSG_DONE) {
      return Finished{message->easy_handle, message->data.result};
    }
  }
  return std::nullopt;
}

void CurlLoop::wake() { (void)eventfd_write(wake_.get(), 1); }

}  // namespace recourse::http
