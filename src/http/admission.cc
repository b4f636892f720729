#include "http/admission.h"

#include <algorithm>

namespace recourse::http {

void Admission::arrive(CallId call, const std::string& host, bool has_name) {
  const auto found = hosts_.try_emplace(host).first;
  found->second.has_name = has_name;
  found->second.waiting.push_back(call);
  places_.emplace(call, Place{.host = found});
  ++waiting_;
}

bool Admission::may_send(const Host& host, Time now) const {
  if (host.waiting.empty() || host.out >= host_max_) return false;
  return !host.has_name || now < host.known_until || !host.scout;
}

std::optional<CallId> Admission::next(Time now) {
  if (waiting_ == 0 || out_ >= total_max_) return std::nullopt;
  auto at = hosts_.upper_bound(served_last_);
  for (std::size_t looked = 0; looked < hosts_.size(); ++looked, ++at) {
    if (at == hosts_.end()) at = hosts_.begin();
    Host& host = at->second;
    if (!may_send(host, now)) continue;
    const CallId call = host.waiting.front();
    host.waiting.pop_front();
    --waiting_;
    ++host.out;
    ++out_;
    places_.at(call).is_out = true;
    if (host.has_name && now >= host.known_until) host.scout = call;
    served_last_ = at->first;
    return call;
  }
  return std::nullopt;
}

void Admission::found_address(CallId call, Time now) {
  const auto found = places_.find(call);
  if (found == places_.end()) return;
  Host& host = found->second.host->second;
  if (host.scout != call) return;
  host.scout.reset();
  host.known_until = now + known_for_;
}

void Admission::needed_no_address(CallId call) {
  const auto found = places_.find(call);
  if (found == places_.end()) return;
  Host& host = found->second.host->second;
  if (host.scout == call) host.scout.reset();
}

std::vector<CallId> Admission::take_waiting_with(CallId call) {
  const auto found = places_.find(call);
  if (found == places_.end()) return {};
  Host& host = found->second.host->second;
  std::vector<CallId> taken(host.waiting.begin(), host.waiting.end());
  host.waiting.clear();
  waiting_ -= taken.size();
  for (const CallId one : taken) places_.erase(one);
  return taken;
}

void Admission::leave(CallId call) {
  const auto found = places_.find(call);
  if (found == places_.end()) return;
  const auto at = found->second.host;
  Host& host = at->second;
  if (found->second.is_out) {
    --host.out;
    --out_;
  } else {
    std::erase(host.waiting, call);
    --waiting_;
  }
  if (host.scout == call) host.scout.reset();
  places_.erase(found);
  if (host.out == 0 && host.waiting.empty()) hosts_.erase(at);
}

}  // namespace recourse::http
