#include "api/feed.h"

#include <boost/json.hpp>
#include <utility>

#include "base/rfc3339.h"

namespace recourse::api {
namespace {

using boost::json::object;

struct Event {
  std::string_view name;
  object data;
  std::optional<task::Tenant> tenant = std::nullopt;
};

Event event_of(const engine::Moved& moved) {
  object data{{"id", task::to_string(moved.task)}, {"kind", moved.kind.value},
              {"move", to_string(moved.move)},     {"state", to_string(moved.to)},
              {"retries", moved.retries},          {"max_retries", moved.max_retries}};
  if (moved.error) data["error"] = {{"code", moved.error->code}, {"message", moved.error->message}};
  if (moved.took) data["took_us"] = moved.took->count();
  if (moved.escalation) data["escalation"] = policy::to_string(*moved.escalation);
  return {"task", std::move(data), moved.tenant};
}

Event event_of(const engine::BreakerChanged& changed) {
  return {"breaker",
          {{"kind", changed.kind.value},
           {"from", policy::to_string(changed.change.from)},
           {"to", policy::to_string(changed.change.to)}}};
}

Event event_of(const engine::BatchChanged& changed) {
  return {"batch", {{"from", changed.change.from}, {"to", changed.change.to}}};
}

Event event_of(const engine::NodeHappened& happened) {
  return {"node",
          {{"event", to_string(happened.event)},
           {"detail", happened.detail},
           {"count", happened.count}}};
}

}  // namespace

bool Feed::add(std::shared_ptr<http::Stream> watcher, std::optional<task::Tenant> tenant) {
  MutexLock lock(mutex_);
  if (watchers_.size() >= kWatchersMax) return false;
  watchers_.push_back({std::move(watcher), std::move(tenant)});
  count_ = watchers_.size();
  return true;
}

void Feed::tell(const engine::Happening& happening, TimePoint at) {
  if (count_ == 0) return;
  Event event = std::visit([](const auto& what) { return event_of(what); }, happening);
  event.data["at"] = format_rfc3339(at);
  send("event: " + std::string(event.name) + "\ndata: " + boost::json::serialize(event.data) +
           "\n\n",
       event.tenant);
}

void Feed::keep_alive() {
  if (count_ > 0) send(": still here\n\n", std::nullopt);
}

void Feed::send(const std::string& piece, const std::optional<task::Tenant>& of) {
  MutexLock lock(mutex_);
  std::erase_if(watchers_, [&](const Watcher& watcher) {
    // What concerns no tenant is shown to all.
    const bool is_theirs = !watcher.tenant || !of || *watcher.tenant == *of;
    return is_theirs && !watcher.stream->write(piece);
  });
  count_ = watchers_.size();
}

}  // namespace recourse::api
