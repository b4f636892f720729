#include "message/link.h"

#include <fmt/format.h>

#include <functional>
#include <random>

#include "base/text.h"

namespace recourse::message {

using std::chrono::steady_clock;

Link::Link(const SourceSettings& settings, std::string place, Log& log)
    : name_(settings.name),
      place_(std::move(place)),
      log_(log),
      pace_(settings.reconnect_min, settings.reconnect_max, std::random_device{}()) {}

Result<> Link::ensure(FunctionRef<Result<>(Deadline)> open, Deadline deadline) {
  if (is_up_) return {};
  if (pace_.next_try() > steady_clock::now()) {
    const Deadline until = std::min(deadline, pace_.next_try());
    const bool is_woken = wakeup_.wait(-1, until) == Wakeup::Cause::kWoken;
    if (is_woken || pace_.next_try() > deadline) return fail(last_error_);
  }
  if (Result<> opened = open(deadline); !opened) {
    pace_.failed(steady_clock::now());
    last_error_ = opened.error();
    log_.warning("broker_not_connected",
                 {{"source", name_}, {"broker", place_}, {"error", last_error_.message}});
    return fail(std::move(opened).error());
  }
  pace_.succeeded();
  is_up_ = true;
  log_.info("broker_connected", {{"source", name_}, {"broker", place_}});
  return {};
}

Error Link::lost(const Error& why, std::size_t undecided) {
  is_up_ = false;
  pace_.failed(steady_clock::now());
  last_error_ = why;
  if (undecided > 0) {
    last_error_.message +=
        fmt::format("; the broker delivers {} again", counted(undecided, "undecided message"));
  }
  log_.warning("broker_connection_lost", {{"source", name_},
                                          {"broker", place_},
                                          {"undecided", std::to_string(undecided)},
                                          {"error", why.message}});
  return last_error_;
}

}  // namespace recourse::message
