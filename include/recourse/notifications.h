// People are told of what machines could not finish, through channels of your own.
//
//   class Pager : public recourse::NoticeChannel {
//    public:
//     std::string name() const override { return "pager"; }
//     recourse::Result<> send(const recourse::Notice& notice, std::stop_token) override {
//       return page(notice.kind + ": " + notice.error)
//                  ? recourse::Result<>()
//                  : recourse::fail(recourse::ErrorCode::kUnavailable, "the pager is busy");
//     }
//   };
//   engine.notify({.channels = {std::make_shared<Pager>()}});
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "recourse/result.h"
#include "recourse/time.h"

namespace recourse {

// In rising order.
enum class Severity : std::uint8_t { kInfo, kWarning, kError, kCritical };

// One thing to tell a person: secrets masked, every text cut to its bound.
struct Notice {
  // The same whenever the same thing is told again, by a retry or after a restart.
  std::string id;
  // dead_letter, max_retry_reached, non_retryable_failed, takeover, lease_renew_failed,
  // persist_failed, engine_error, breaker_opened or breaker_closed
  std::string event;
  Severity severity = Severity::kInfo;
  std::string node;
  // Empty where it is about no task.
  std::string kind;
  std::string task;
  std::string tenant;
  int retries = 0;
  int max_retries = 0;
  // A word for programs, such as TIMEOUT.
  std::string reason;
  std::string error;
  TimePoint at;
  // 0: the first time. Then how often somebody was reminded.
  int reminder = 0;
  // Further ones that this message stands for: held back, of the same event and kind.
  std::int64_t more = 0;
  // Search keys of the task as `key NAME`, its fence, who looks after it...
  std::map<std::string, std::string> attributes;
  std::string link;
};

// A way to reach people. It is called from up to four threads at the same time.
class NoticeChannel {
 public:
  virtual ~NoticeChannel() = default;

  // Asked once. Not `log`, which is the engine's own.
  [[nodiscard]] virtual std::string name() const = 0;
  // False: nothing to say of it here, whatever the router says.
  [[nodiscard]] virtual bool supports(const Notice&) const { return true; }
  // May block, and should end soon once `stop` is asked for. kUnavailable, kExhausted, kInDoubt and
  // what is thrown are tried again, three times in all; any other error is for good. A channel that
  // keeps failing is left alone for a while.
  virtual Result<> send(const Notice& notice, std::stop_token stop) = 0;
};

// What a filter says of a notice.
struct NoticeVerdict {
  enum class Answer : std::uint8_t { kPass, kHoldBack, kDrop };

  Answer answer = Answer::kPass;
  Duration wait = Duration::zero();
  std::string why = {};

  static NoticeVerdict pass() { return {}; }
  // Counted in the next message of the same event and kind that goes out; where there is none, the
  // filters are asked again after `wait`.
  static NoticeVerdict hold_back(Duration wait, std::string why) {
    return {.answer = Answer::kHoldBack, .wait = wait, .why = std::move(why)};
  }
  // Nobody wants to know; it is not asked again.
  static NoticeVerdict drop(std::string why) {
    return {.answer = Answer::kDrop, .why = std::move(why)};
  }
};

struct NotificationOptions {
  // None: all is told to `log`, the engine's own.
  std::vector<std::shared_ptr<NoticeChannel>> channels = {};
  // Names the channels of a notice, `log` among them if it likes; none: nobody is told. Without a
  // router every channel is told everything. It must not block; where it throws, all are told.
  std::function<std::vector<std::string>(const Notice&)> router = nullptr;
  // Asked in turn, one notice at a time, before the rate limit. They must not block; one that
  // throws lets pass.
  std::vector<std::function<NoticeVerdict(const Notice&)>> filters = {};
  // Of one event and kind so many go out within a window, the others are counted in the next.
  int rate_threshold = 50;
  Duration rate_window = std::chrono::seconds(30);
  // What waits for a person is told again after this, then after twice as long, three times...
  // until somebody has dealt with it. Of all engines on the store one reminds.
  Duration remind_every = std::chrono::hours(1);
  // Regular expressions (RE2) of what is masked beside passwords, tokens and card numbers.
  std::vector<std::string> mask_patterns = {};
  // Where people see a task: its id is put behind it. Empty: no link.
  std::string link = {};
};

}  // namespace recourse
