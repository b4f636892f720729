#include "message/redis/stream_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "base/process_name.h"
#include "message/redis/errors.h"

namespace recourse::message::redis {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How long a server may take for its answer beyond what it was told to wait.
constexpr auto kAnswerPatience = std::chrono::seconds(5);
constexpr std::size_t kIdsPerCommand = 1'000;
constexpr std::size_t kUnansweredMax = 500;

// Names of their own for all lives of all processes: what a dead one had must not look like ours.
std::string made_up_name() {
  return fmt::format("{}:{:08x}", process_name(), std::random_device{}());
}

}  // namespace

StreamGroup::StreamGroup(const SourceSettings& settings, const Address& address)
    : settings_(settings),
      address_(address),
      consumer_(settings.consumer.empty() ? made_up_name() : settings.consumer),
      idle_ms_(std::to_string(settings.redis.claim_after / milliseconds(1))) {}

Result<> StreamGroup::open(Deadline deadline) {
  Result<Connection> control = Connection::open(address_, deadline);
  if (!control) return fail(std::move(control).error());
  Result<Connection> reader = Connection::open(address_, deadline);
  if (!reader) return fail(std::move(reader).error());
  const Result<Reply> made = control->run(
      {"XGROUP", "CREATE", settings_.topic, settings_.group, "0", "MKSTREAM"}, deadline);
  // It is there already.
  if (!made && made.error().code != ErrorCode::kConflict) return fail(made.error());
  Result<Reply> id = reader->run({"CLIENT", "ID"}, deadline);
  if (!id) return fail(std::move(id).error());
  reader_id_ = std::to_string((*id)->integer);
  control_ = *std::move(control);
  reader_ = *std::move(reader);
  return {};
}

void StreamGroup::close() {
  reader_ = Connection();
  control_ = Connection();
}

Result<std::vector<Entry>> StreamGroup::read(std::size_t max, Deadline deadline, Wakeup& wakeup) {
  Command command{"XREADGROUP", "GROUP", settings_.group, consumer_, "COUNT", std::to_string(max)};
  const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
  // Zero would be for ever.
  if (left > milliseconds(0))
    command.insert(command.end(), {"BLOCK", std::to_string(left.count())});
  command.insert(command.end(), {"STREAMS", settings_.topic, ">"});
  const Deadline latest = std::max(deadline, steady_clock::now()) + kAnswerPatience;
  if (Result<> sent = reader_.send(command, latest); !sent) return fail(std::move(sent).error());
  if (wakeup.wait(reader_.socket(), latest) == Wakeup::Cause::kWoken) {
    Result<Reply> ended = control_.run({"CLIENT", "UNBLOCK", reader_id_}, latest);
    if (!ended) return fail(std::move(ended).error());
  }
  Result<Reply> reply = reader_.read(latest);
  if (!reply) return fail(std::move(reply).error());
  return entries_read(**reply, settings_);
}

Result<StreamGroup::Claimed> StreamGroup::claim(std::size_t max, Deadline deadline) {
  Result<Reply> reply = control_.run({"XAUTOCLAIM", settings_.topic, settings_.group, consumer_,
                                      idle_ms_, claim_from_, "COUNT", std::to_string(max)},
                                     deadline);
  if (!reply) return fail(std::move(reply).error());
  Claimed claimed;
  if (!is_array(**reply, 2)) return claimed;
  claim_from_ = text(*(*reply)->element[0]);
  claimed.entries = entries_of(*(*reply)->element[1], settings_);
  // Redis 7 names them; before, they are entries without fields.
  claimed.trimmed = is_array(**reply, 3) ? (*reply)->element[2]->elements
                                         : (*reply)->element[1]->elements - claimed.entries.size();
  return claimed;
}

Result<> StreamGroup::acknowledge(const std::vector<EntryId>& ids, Deadline deadline) {
  for (std::size_t first = 0; first < ids.size(); first += kIdsPerCommand) {
    Command command{"XACK", settings_.topic, settings_.group};
    const std::size_t end = std::min(ids.size(), first + kIdsPerCommand);
    for (std::size_t i = first; i < end; ++i) command.push_back(ids[i]);
    if (Result<Reply> done = control_.run(command, deadline); !done)
      return fail(std::move(done).error());
  }
  return {};
}

Command StreamGroup::claim_command(const std::vector<EntryId>& ids, Duration idle) const {
  Command command{"XCLAIM", settings_.topic, settings_.group, consumer_, "0"};
  command.insert(command.end(), ids.begin(), ids.end());
  // Only their ids come back, and it does not count as a delivery.
  command.insert(command.end(), {"IDLE", std::to_string(idle / milliseconds(1)), "JUSTID"});
  return command;
}

Result<> StreamGroup::give_back(const std::vector<EntryId>& ids, Deadline deadline) {
  if (ids.empty()) return {};
  Result<Reply> done = control_.run(claim_command(ids, settings_.redis.claim_after), deadline);
  // The next look begins where they may be.
  claim_from_ = "0-0";
  if (!done) return fail(std::move(done).error());
  return {};
}

Result<> StreamGroup::touch(const std::vector<EntryId>& ids, Deadline deadline) {
  if (ids.empty()) return {};
  Result<Reply> done = control_.run(claim_command(ids, Duration::zero()), deadline);
  if (!done) return fail(std::move(done).error());
  return {};
}

Result<std::vector<EntryId>> StreamGroup::mine(std::size_t max, Deadline deadline) {
  Result<Reply> reply = control_.run(
      {"XPENDING", settings_.topic, settings_.group, "-", "+", std::to_string(max), consumer_},
      deadline);
  if (!reply) return fail(std::move(reply).error());
  std::vector<EntryId> ids;
  for (std::size_t i = 0; i < (*reply)->elements; ++i) {
    const redisReply& row = *(*reply)->element[i];
    if (is_array(row, 1)) ids.push_back(text(*row.element[0]));
  }
  return ids;
}

Result<> StreamGroup::leave(Deadline deadline) {
  const Result<std::vector<EntryId>> left = mine(1, deadline);
  if (!left) return fail(left.error());
  if (!left->empty()) return {};
  Result<Reply> done = control_.run(
      {"XGROUP", "DELCONSUMER", settings_.topic, settings_.group, consumer_}, deadline);
  if (!done) return fail(std::move(done).error());
  return {};
}

Result<> StreamGroup::append(std::span<const Outgoing> messages, Deadline deadline) {
  while (!messages.empty()) {
    const auto batch = messages.first(std::min(kUnansweredMax, messages.size()));
    for (const Outgoing& message : batch) {
      Result<> sent = control_.send(append_command(message, settings_.redis.body_field), deadline);
      if (!sent) return sent;
    }
    Result<> answer;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      // All are read, so that none is taken for an answer to something else.
      Result<Reply> reply = control_.read(deadline);
      if (!reply && answer) answer = fail(std::move(reply).error());
    }
    if (!answer) return answer;
    messages = messages.subspan(batch.size());
  }
  return {};
}

}  // namespace recourse::message::redis
