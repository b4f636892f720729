#include "message/redis/stream_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "message/redis/source.h"

namespace recourse::message::redis {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// A read blocks no longer, so that what is out is kept hold of.
constexpr auto kBlockMax = std::chrono::seconds(1);
// For commands that are answered at once.
constexpr auto kPatience = std::chrono::seconds(5);

Duration claim_pause(const SourceSettings& settings) {
  return std::clamp<Duration>(settings.redis.claim_after / 4, milliseconds(50),
                              std::chrono::seconds(5));
}

}  // namespace

Result<std::unique_ptr<Source>> open(const SourceSettings& settings, Log& log) {
  if (Result<> valid = validate(settings); !valid) return fail(std::move(valid).error());
  Result<Address> address = parse_address(settings.url);
  if (!address) return fail(std::move(address).error());
  if (address->broker != BrokerKind::kRedis) {
    return fail(ErrorCode::kInvalid, "source.url must begin with redis:// for Redis");
  }
  return std::unique_ptr<Source>(
      std::make_unique<StreamSource>(settings, *std::move(address), log));
}

StreamSource::StreamSource(SourceSettings settings, Address address, Log& log)
    : settings_(std::move(settings)),
      address_(std::move(address)),
      link_(settings_, where(address_), log),
      group_(settings_, address_),
      next_hold_(steady_clock::now() + settings_.redis.claim_after / 3) {}

Result<> StreamSource::connect(Deadline deadline) {
  return link_.ensure([this](Deadline until) { return group_.open(until); }, deadline);
}

Error StreamSource::lose_session(const Error& why) {
  group_.close();
  return link_.lost(why, 0);
}

std::size_t StreamSource::room() const {
  const std::size_t used = out_.size() + done_.size() + given_back_.size();
  return used < settings_.prefetch ? settings_.prefetch - used : 0;
}

Result<std::vector<Message>> StreamSource::receive(std::size_t max, Deadline deadline) {
  if (link_.wakeup().woken()) return std::vector<Message>();
  if (Result<> connected = connect(deadline); !connected) {
    if (link_.wakeup().woken()) return std::vector<Message>();
    return fail(std::move(connected).error());
  }
  Result<std::vector<Message>> batch = receive_some(max, deadline);
  if (!batch) return fail(lose_session(batch.error()));
  return batch;
}

Result<std::vector<Message>> StreamSource::receive_some(std::size_t max, Deadline deadline) {
  std::vector<Message> batch;
  for (;;) {
    const Deadline patience = std::max(deadline, steady_clock::now() + kPatience);
    if (Result<> sent = send_verdicts(patience); !sent) return fail(std::move(sent).error());
    if (Result<> held = keep_hold(patience); !held) return fail(std::move(held).error());
    const Deadline pause = std::min({deadline, steady_clock::now() + kBlockMax, next_hold_});
    const std::size_t wanted = std::min(max, room());
    if (wanted == 0) {
      (void)link_.wakeup().wait(-1, pause);
      if (link_.wakeup().woken()) return batch;
    } else {
      if (Result<> claimed = claim(wanted, batch, patience); !claimed)
        return fail(std::move(claimed).error());
      if (batch.size() == wanted) return batch;
      const Deadline wait = batch.empty() ? std::min(pause, next_claim_) : Deadline();
      auto entries = group_.read(wanted - batch.size(), wait, link_.wakeup());
      if (!entries) return fail(std::move(entries).error());
      take(*std::move(entries), false, batch);
      if (link_.wakeup().woken()) return batch;
    }
    if (!batch.empty() || steady_clock::now() >= deadline) return batch;
  }
}

Result<> StreamSource::claim(std::size_t max, std::vector<Message>& batch, Deadline deadline) {
  if (steady_clock::now() < next_claim_) return {};
  Result<StreamGroup::Claimed> claimed = group_.claim(max, deadline);
  if (!claimed) return fail(std::move(claimed).error());
  // There may be more of them.
  const bool is_all = claimed->entries.size() < max;
  if (is_all) next_claim_ = steady_clock::now() + claim_pause(settings_);
  if (claimed->trimmed > 0) {
    link_.log().error("messages_trimmed",
                      {{"source", settings_.name},
                       {"topic", settings_.topic},
                       {"count", std::to_string(claimed->trimmed)},
                       {"hint", "the stream is trimmed before its messages are decided"}});
  }
  take(std::move(claimed->entries), true, batch);
  return {};
}

void StreamSource::take(std::vector<Entry> entries, bool redelivered, std::vector<Message>& batch) {
  std::set<EntryId> ours;
  // A look at what is idle finds our own too, where we were slow to touch it.
  if (redelivered) {
    for (const auto& [number, id] : out_.all()) ours.insert(id);
  }
  for (Entry& entry : entries) {
    if (ours.contains(entry.id)) continue;
    entry.message.source = settings_.name;
    entry.message.redelivered = redelivered;
    entry.message.ticket = out_.add(std::move(entry.id));
    batch.push_back(std::move(entry.message));
  }
}

Result<> StreamSource::keep_hold(Deadline deadline) {
  if (steady_clock::now() < next_hold_) return {};
  next_hold_ = steady_clock::now() + settings_.redis.claim_after / 3;
  if (out_.size() == 0) return {};
  Result<std::vector<EntryId>> mine = group_.mine(2 * settings_.prefetch, deadline);
  if (!mine) return fail(std::move(mine).error());
  const std::set<EntryId> still(mine->begin(), mine->end());
  const std::size_t taken = out_.erase_if([&](const EntryId& id) { return !still.contains(id); });
  if (taken > 0) {
    link_.log().warning("messages_taken_by_others",
                        {{"source", settings_.name},
                         {"count", std::to_string(taken)},
                         {"hint", "this consumer was silent for longer than redis.claim_after"}});
  }
  std::vector<EntryId> ids;
  for (const auto& [number, id] : out_.all()) ids.push_back(id);
  return group_.touch(ids, deadline);
}

Result<Settlement> StreamSource::settle(std::span<const Verdict> verdicts, Deadline deadline) {
  Settlement settlement;
  for (const Verdict& verdict : verdicts) {
    auto id = out_.take(verdict.ticket);
    if (!id) {
      settlement.dropped.push_back(verdict.ticket);
      continue;
    }
    (verdict.fate == Fate::kDone ? done_ : given_back_).push_back(*std::move(id));
    ++settlement.accepted;
  }
  if (Result<> connected = connect(deadline); !connected) return fail(std::move(connected).error());
  Result<> sent = send_verdicts(deadline);
  if (sent) sent = keep_hold(deadline);
  if (!sent) return fail(lose_session(sent.error()));
  return settlement;
}

Result<> StreamSource::send_verdicts(Deadline deadline) {
  if (!done_.empty()) {
    if (Result<> sent = group_.acknowledge(done_, deadline); !sent) return sent;
    done_.clear();
  }
  if (!given_back_.empty()) {
    if (Result<> sent = group_.give_back(given_back_, deadline); !sent) return sent;
    given_back_.clear();
    next_claim_ = {};
  }
  return {};
}

Result<> StreamSource::publish(std::span<const Outgoing> messages, Deadline deadline) {
  if (Result<> connected = connect(deadline); !connected) return connected;
  Result<> appended = group_.append(messages, deadline);
  if (appended || appended.error().code != ErrorCode::kUnavailable) return appended;
  const Error lost = lose_session(appended.error());
  return fail(ErrorCode::kInDoubt, lost.message + "; some messages may have been published");
}

Result<std::size_t> StreamSource::close(Deadline deadline) {
  const std::size_t undecided = out_.size();
  for (const auto& [number, id] : out_.all()) given_back_.push_back(id);
  out_.clear();
  Result<> left = connect(deadline);
  if (left) left = send_verdicts(deadline);
  if (left) left = group_.leave(deadline);
  group_.close();
  link_.closed();
  if (!left) return fail(std::move(left).error());
  return undecided;
}

}  // namespace recourse::message::redis
