// libcurl's transfers on one thread, driven by epoll: each event costs the same, however many
// transfers are under way. (curl_multi_perform looks at every one of them each time.)
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "base/result.h"
#include "base/time.h"
#include "http/curl_handles.h"

namespace recourse::http {

// A descriptor that is closed with its owner.
class OwnedFd {
 public:
  explicit OwnedFd(int fd) : fd_(fd) {}
  ~OwnedFd();
  OwnedFd(const OwnedFd&) = delete;
  OwnedFd& operator=(const OwnedFd&) = delete;

  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

// Thread safety: none, but for wake().
class CurlLoop {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Finished {
    CURL* easy;
    CURLcode code;
  };

  // `connections_kept` counts those in use too.
  static Result<std::unique_ptr<CurlLoop>> open(int connections_kept);
  CurlLoop(const CurlLoop&) = delete;
  CurlLoop& operator=(const CurlLoop&) = delete;

  bool add(CURL* easy) { return curl_multi_add_handle(multi_.get(), easy) == CURLM_OK; }
  void remove(CURL* easy) { curl_multi_remove_handle(multi_.get(), easy); }

  // Does what is to be done, after waiting for it until `until` at most; at once where somebody
  // wakes it.
  void turn(Time until);
  // What has ended since.
  std::optional<Finished> next_finished();
  // From any thread.
  void wake();

 private:
  CurlLoop();

  static int on_socket(CURL* easy, curl_socket_t socket, int what, void* self, void* of_socket);
  static int on_timer(CURLM* multi, long milliseconds, void* self);
  [[nodiscard]] int patience_until(Time until) const;

  OwnedFd epoll_;
  OwnedFd wake_;
  // When the library wants to be called, whatever happens.
  std::optional<Time> timer_;
  MultiHandle multi_;
};

}  // namespace recourse::http
