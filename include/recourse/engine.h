// An engine in your process: submit tasks, register handlers, and what fails is still finished.
//
//   auto engine = recourse::Engine::open({.store = "sqlite:orders.db"}).value();
//   engine.handle<Grant>("grant-points", [&](const recourse::Attempt&, const Grant& grant) {
//     return points.add(grant.member, grant.amount) ? recourse::done()
//                                                   : recourse::retry("points service refused");
//   });
//   engine.start().value();
//   auto id = engine.submit("grant-points", Grant{"m-1", 10}, {.max_retries = 8});
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "recourse/attempt.h"
#include "recourse/codec.h"
#include "recourse/notifications.h"
#include "recourse/options.h"
#include "recourse/outcome.h"
#include "recourse/result.h"
#include "recourse/time.h"

namespace recourse {

namespace detail {
class MessageAccess;
}

// `tsk_01J...`
using TaskIdText = std::string;

// A task that comes back by the clock.
struct Schedule {
  // One in the whole store: nodes that have a schedule of the same name share it.
  std::string name;
  // UTC. "30 4 * * mon-fri" (minute, hour, day of the month, month, day of the week), @hourly,
  // @daily, @weekly, @monthly, @yearly, or an interval such as "every 30s", counted from 1970.
  std::string when;
  std::string kind;
  std::string payload = {};
  // Of each task; without an id, and with a deadline that counts from then. A unique_key skips what
  // comes while the former is still unfinished.
  SubmitOptions options = {};
  // After a time in which no node lived, the latest occurrence that was missed is still run, if it
  // is no older than this. Up to a week.
  Duration catch_up = Duration::zero();
};

struct TaskView {
  std::string id;
  std::string kind;
  // pending, running, paused, succeeded, failed, dead, cancelled, resolved, ignored
  std::string state;
  std::string payload;
  int retries = 0;
  int attempts = 0;
  std::string error_code;
  std::string error;
  TimePoint created_at;
  TimePoint due_at;
  std::optional<TimePoint> ended_at;
};

// What a handler said while it ran.
struct NoteView {
  int attempt = 1;
  TimePoint at;
  // 0 to 1, where it said how far it had come.
  std::optional<double> progress;
  std::string text;
};
// The newest, of notes as Engine::notes answers them.
[[nodiscard]] std::optional<double> progress_of(const std::vector<NoteView>& notes);

// A task that a node of this program has brought to its end.
struct Ended {
  std::string id;
  std::string kind;
  std::string tenant;
  // succeeded, failed, dead, cancelled, resolved or ignored
  std::string state;
  int retries = 0;
  std::string error_code;
  std::string error;
  // Its last attempt; empty where nothing was run.
  std::optional<Duration> took;
};

struct StopReport {
  int released = 0;
  int finished = 0;
  int cut_off = 0;
};

// Safe to use from any thread; handlers are registered before start().
class Engine {
 public:
  // Opens the store and brings its tables up to date. Nothing runs before start().
  static Result<Engine> open(const EngineOptions& options);
  // Stops at once where stop() was not called.
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  // --- before start(); what is wrong with a registration is told by start(), and one that comes
  // later is logged as an error and changes nothing ---
  // A kind that ends in `*` stands for all that begin so.
  Engine& handle_bytes(std::string_view kind, Handler handler, const KindOptions& options = {},
                       Probe probe = nullptr);
  // With a typed payload: `handler(const Attempt&, const T&)` answers an Outcome or a bool.
  template <class T, class F>
  Engine& handle(std::string_view kind, F handler, const KindOptions& options = {},
                 const Probe& probe = nullptr) {
    return handle_bytes(kind, typed_handler<T>(std::move(handler)), options, probe);
  }
  // Returns at once and completes later, from any thread. It holds no thread meanwhile.
  Engine& handle_async(std::string_view kind, AsyncHandler handler,
                       const KindOptions& options = {});
  // Around every handler that is not asynchronous; the first added is the outermost.
  Engine& around(Middleware middleware);
  // A backoff of your own, by name. `retry` counts from 1.
  Engine& add_backoff(std::string name, std::function<Duration(Duration base, int retry)> curve);
  // Told of every task that this engine brings to its end, once the store has it; not of those that
  // people end before they are claimed, nor of what is lost in a crash: the store is the truth. It
  // is called one end at a time, on a thread of its own; what it throws is ignored, and where it is
  // too slow by 10,000 ends the oldest go untold.
  Engine& on_end(std::function<void(const Ended&)> call);

  // Tells people of what waits for them, again and again until somebody has dealt with it, and of
  // breakers, takeovers and troubles with the store. Without it nobody is told. Once.
  Engine& notify(const NotificationOptions& options);

  // Submits a task at each of its times, once, however many nodes have it registered.
  Engine& schedule(Schedule schedule);
  template <class T>
  Engine& schedule(Schedule schedule_of, const T& payload) {
    Result<std::string> bytes = encode_payload(payload);
    if (!bytes) return refuse(bytes.error());
    schedule_of.payload = *std::move(bytes);
    return schedule(std::move(schedule_of));
  }

  Result<> start();

  // --- submitting ---
  // Answers when the task is durable. kInDoubt: it may be; submit again under the same id.
  Result<TaskIdText> submit_bytes(std::string_view kind, std::string payload,
                                  const SubmitOptions& options = {});
  template <class T>
    requires(!std::is_convertible_v<T, std::string_view>)
  Result<TaskIdText> submit(std::string_view kind, const T& payload,
                            const SubmitOptions& options = {}) {
    Result<std::string> bytes = encode_payload(payload);
    if (!bytes) return fail(bytes.error());
    return submit_bytes(kind, *std::move(bytes), options);
  }
  // Many at once, in few transactions; each has its own answer.
  std::vector<Result<TaskIdText>> submit_all(std::vector<Submission> batch);
  // Does not wait: `answered` is called, from a thread kept for that, when the task is durable or
  // is not. One that blocks holds up the other answers, and nothing else; where 100,000 of them
  // wait, it is called at once, with kExhausted.
  void submit_async(Submission submission, std::function<void(Result<TaskIdText>)> answered);
  [[nodiscard]] std::string new_id();

  // --- seeing and steering ---
  Result<TaskView> find(std::string_view id);
  // What its handler said, newest last: the newest 100, for as long as the task is kept.
  Result<std::vector<NoteView>> notes(std::string_view id);
  // done: it is so. requested: the owner of the running task will see to it.
  Result<std::string> cancel(std::string_view id, std::string_view by);
  Result<std::string> pause(std::string_view id, std::string_view by);
  Result<std::string> resume(std::string_view id, std::string_view by);
  // Of what waits: now. Of what is dead or failed: a new episode.
  Result<std::string> retry_now(std::string_view id, std::string_view by);
  Result<std::string> resolve(std::string_view id, std::string_view by);
  Result<std::string> ignore(std::string_view id, std::string_view by);
  Result<> pause_kind(std::string_view kind, std::string_view by);
  Result<> resume_kind(std::string_view kind, std::string_view by);
  // By kind and state.
  Result<std::map<std::pair<std::string, std::string>, std::int64_t>> counts();

  // Takes nothing new, hands back what has not started, waits for what runs, up to the limit.
  // Calling it again with a shorter limit forces.
  StopReport stop(Duration limit = std::chrono::seconds(30));

 private:
  friend class Create;
  friend class CreateTransaction;
  friend class Degrade;
  friend class Guards;
  friend class Messages;
  friend class detail::MessageAccess;
  struct Impl;
  // What start() will tell.
  Engine& refuse(const Error& error);
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace recourse
