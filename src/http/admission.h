// Which calls may go now, and which wait: for a connection, or for their host's name.
//
// libcurl starts a thread for each name it looks up, and looks up the same name once for each call
// that asks before the first answer is there. So the first call to a host goes alone, as its scout;
// the others follow when it has the address, which libcurl then remembers.
//
// Invariants
//   1. No more calls are out than the bounds allow, in all and to one host.
//   2. To one host they go in the order in which they came; hosts take turns.
//   3. While a host's name is not known, one call to it is out without a connection, at most.
//
// Thread safety: none; the client's thread owns it. It reads no clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "http/client.h"

namespace recourse::http {

class Admission {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `known_for` is how long an address is remembered.
  Admission(int total_max, int host_max, Duration known_for)
      : total_max_(total_max), host_max_(host_max), known_for_(known_for) {}

  // `has_name`: its host is no address, and must be looked up.
  void arrive(CallId call, const std::string& host, bool has_name);
  // The next that may go; it is out from then on.
  std::optional<CallId> next(Time now);
  // It has the address of its host.
  void found_address(CallId call, Time now);
  // It needed none: an open connection was there.
  void needed_no_address(CallId call);
  // Those that wait for the same host; they wait no longer, and are gone from here.
  std::vector<CallId> take_waiting_with(CallId call);
  // It has ended, whether it was out or waited.
  void leave(CallId call);

  [[nodiscard]] std::size_t waiting() const { return waiting_; }
  [[nodiscard]] int out() const { return out_; }

 private:
  struct Host {
    std::deque<CallId> waiting = {};
    int out = 0;
    bool has_name = false;
    std::optional<CallId> scout = std::nullopt;
    Time known_until = Time::min();
  };
  using Hosts = std::map<std::string, Host>;
  struct Place {
    Hosts::iterator host;
    bool is_out = false;
  };

  [[nodiscard]] bool may_send(const Host& host, Time now) const;

  const int total_max_;
  const int host_max_;
  const Duration known_for_;
  // Only those with calls.
  Hosts hosts_;
  std::unordered_map<CallId, Place> places_;
  std::string served_last_;
  std::size_t waiting_ = 0;
  int out_ = 0;
};

}  // namespace recourse::http
