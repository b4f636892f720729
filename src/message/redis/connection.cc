#include "message/redis/connection.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "message/redis/errors.h"

namespace recourse::message::redis {
namespace {

constexpr std::size_t kWordsMax = 200;

// The library takes none that is nothing for "for ever".
timeval until(Deadline deadline) {
  const auto left = std::max<std::chrono::steady_clock::duration>(
      std::chrono::milliseconds(1), deadline - std::chrono::steady_clock::now());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
  const auto rest = std::chrono::floor<std::chrono::microseconds>(left - seconds);
  return {static_cast<time_t>(seconds.count()), static_cast<suseconds_t>(rest.count())};
}

}  // namespace

Result<Connection> Connection::open(const Address& address, Deadline deadline) {
  const Endpoint& endpoint = address.endpoints.front();
  Connection connection(ContextHandle(
      redisConnectWithTimeout(endpoint.host.c_str(), endpoint.port, until(deadline))));
  if (!connection.usable()) {
    const std::string why =
        connection.context_ ? one_line(connection.context_->errstr, kWordsMax) : "no memory";
    return fail(
        ErrorCode::kUnavailable,
        fmt::format("Redis did not answer at {}: {}; is it running there?", where(address), why));
  }
  if (Result<> let_in = connection.log_in(address, deadline); !let_in) {
    return fail(std::move(let_in).error());
  }
  return connection;
}

Result<> Connection::log_in(const Address& address, Deadline deadline) {
  if (!address.password.empty()) {
    Command auth{"AUTH"};
    if (!address.user.empty()) auth.push_back(address.user);
    auth.push_back(address.password);
    if (Result<Reply> done = run(auth, deadline); !done) return fail(std::move(done).error());
  }
  const std::string database = address.path.empty() ? "0" : address.path;
  if (Result<Reply> done = run({"SELECT", database}, deadline); !done) {
    return fail(std::move(done).error());
  }
  return {};
}

Result<Reply> Connection::run(const Command& command, Deadline deadline) {
  if (Result<> sent = send(command, deadline); !sent) return fail(std::move(sent).error());
  return read(deadline);
}

Result<> Connection::send(const Command& command, Deadline deadline) {
  if (!usable()) return fail(ErrorCode::kUnavailable, "Redis is not connected");
  set_deadline(deadline);
  std::vector<const char*> words;
  std::vector<std::size_t> lengths;
  for (const std::string& word : command) {
    words.push_back(word.data());
    lengths.push_back(word.size());
  }
  redisAppendCommandArgv(context_.get(), static_cast<int>(command.size()), words.data(),
                         lengths.data());
  for (int is_done = 0; is_done == 0;) {
    if (redisBufferWrite(context_.get(), &is_done) != REDIS_OK) return fail(lost());
  }
  return {};
}

Result<Reply> Connection::read(Deadline deadline) {
  if (!usable()) return fail(ErrorCode::kUnavailable, "Redis is not connected");
  set_deadline(deadline);
  void* raw = nullptr;
  if (redisGetReply(context_.get(), &raw) != REDIS_OK || raw == nullptr) return fail(lost());
  Reply reply(static_cast<redisReply*>(raw));
  if (reply->type == REDIS_REPLY_ERROR) return fail(translate(text(*reply)));
  return reply;
}

void Connection::set_deadline(Deadline deadline) {
  redisSetTimeout(context_.get(), until(deadline));
}

Error Connection::lost() const {
  return {ErrorCode::kUnavailable, fmt::format("the connection to Redis was lost: {}",
                                               one_line(context_->errstr, kWordsMax))};
}

}  // namespace recourse::message::redis
