// One call as libcurl sees it: how it is asked for, what comes back, and what its end means.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/client.h"
#include "http/curl_handles.h"
#include "http/curl_url.h"
#include "http/reach.h"

namespace recourse::http {

// Told, from within the library, how far a call has come.
class CallProgress {
 public:
  virtual ~CallProgress() = default;
  // A connection is about to be made.
  virtual void found_address(CallId call) = 0;
  // A connection is there, an old one or a new one; the request goes out.
  virtual void connected(CallId call) = 0;
};

// Thread safety: none; the client's thread owns it.
class CurlCall {
 public:
  using Ended = std::function<void(CallResult)>;

  // The progress must outlive it.
  CurlCall(CallId id, Call call, Ended ended, CallProgress& progress)
      : id_(id), call_(std::move(call)), ended_(std::move(ended)), progress_(progress) {}
  CurlCall(const CurlCall&) = delete;
  CurlCall& operator=(const CurlCall&) = delete;

  // Reads and checks all that was given; the error says what cannot be sent.
  Result<> check();
  // Only after a check that succeeded. False: out of memory.
  bool prepare(const Client::Settings& settings);

  [[nodiscard]] CallId id() const { return id_; }
  [[nodiscard]] const Call& call() const { return call_; }
  [[nodiscard]] const Destination& destination() const { return destination_; }
  // Empty before prepare().
  [[nodiscard]] CURL* easy() const { return easy_.get(); }

  // What the library's end of it means.
  CallResult result(CURLcode code);
  // Its message says where it was going.
  [[nodiscard]] CallFailed failed(CallTrouble trouble, std::string_view why) const;
  // Once.
  void end(CallResult result) { std::exchange(ended_, nullptr)(std::move(result)); }

 private:
  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self);
  static curl_socket_t on_socket(void* self, curlsocktype purpose, curl_sockaddr* address);
  static int on_request(void* self, char* peer, char* own, int peer_port, int own_port);

  bool take_header(std::string_view line);
  bool take_body(std::string_view piece);
  bool set_request();
  bool set_rules(const Client::Settings& settings);
  bool set_callbacks();
  template <class Value>
  bool set(CURLoption option, Value value) {
    return curl_easy_setopt(easy_.get(), option, value) == CURLE_OK;
  }

  const CallId id_;
  const Call call_;
  Ended ended_;
  CallProgress& progress_;
  Destination destination_;
  ReachRule reach_;

  ListHandle headers_;
  std::array<char, CURL_ERROR_SIZE> error_{};
  Answer answer_;
  std::size_t header_bytes_ = 0;
  bool body_began_ = false;
  bool headers_too_long_ = false;
  bool told_to_end_ = false;
  // An address that it was about to call, and may not.
  std::optional<Address> out_of_reach_;
  // Last: it goes first, and may still call what is above.
  EasyHandle easy_;
};

}  // namespace recourse::http
