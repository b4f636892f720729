// A way to reach people.
#pragma once

#include <stop_token>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "notify/notice.h"

namespace recourse::notify {

// What a channel may take for one message.
inline constexpr Duration kSendWithin = std::chrono::seconds(10);

// Safe to use from any thread: messages may be sent at the same time.
class Channel {
 public:
  virtual ~Channel() = default;

  // As rules and records have it. It never changes.
  [[nodiscard]] virtual const std::string& name() const = 0;
  // False: this channel has nothing to say of it, whatever the router says.
  [[nodiscard]] virtual bool supports(const Notice&) const { return true; }
  // False: it is kept for whoever looks later, and nobody reads it as it comes. Beside others it
  // does not count: people were told where one of those took the message.
  [[nodiscard]] virtual bool reaches_people() const noexcept { return true; }
  // Blocks, and not for longer than the channel's time; ends soon, as kUnavailable, once `stop` is
  // asked for. kUnavailable, kExhausted and kInDoubt are tried again; any other error is for good,
  // such as a password that is wrong. The message of an error says what happened, to the person who
  // set the channel up, and holds no secret, URLs of chats included.
  virtual Result<> send(const Notice& notice, std::stop_token stop) = 0;
};

}  // namespace recourse::notify
