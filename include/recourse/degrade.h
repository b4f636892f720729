// A side effect that fails must not fail its caller: it is tried inline, and when that does not
// work, the failure is on the record before the call returns, and a handler makes it good later.
//
//   auto degrade = recourse::Degrade::on(engine, {.spool = "/var/lib/orders/spool"}).value();
//   degrade.handle<Grant>("grant-points", [&](const recourse::Attempt& attempt, const Grant& grant)
//   {
//     return points.add(attempt.id(), grant.member, grant.amount);  // the id makes it idempotent
//   });
//   engine.start().value();
//   ...
//   auto granted = degrade.attempt("grant-points", Grant{member, amount},
//                                  {.member = member, .related_id = order, .type = "EARN_ORDER"},
//                                  [points, member, amount](const recourse::InlineCall& call) {
//                                    return points->add(call.id(), member, amount);
//                                  });
//   if (granted && granted->degraded) page.say("your points will follow");
//
// The receiver must be idempotent under the id that the action and the handler are given: a call
// that overran its time may have happened all the same, and is made again later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "recourse/codec.h"
#include "recourse/engine.h"
#include "recourse/result.h"
#include "recourse/time.h"

namespace recourse {

struct DegradeOptions {
  // How long a caller waits for its action; what takes longer has failed for it.
  Duration limit = std::chrono::seconds(1);
  // Actions of a kind at once.
  int threads_per_kind = 32;
  // When this share of the last `breaker_calls` failed, actions are not called any more but
  // recorded at once; every `breaker_open_for` one is tried beside its caller, who does not wait.
  int breaker_calls = 10;
  int breaker_min_calls = 5;
  double breaker_failure_ratio = 0.5;
  Duration breaker_open_for = std::chrono::seconds(10);

  // Of what is recorded: three retries, the first after a minute, then two and four minutes later.
  int max_retries = 3;
  Duration first_retry_after = std::chrono::minutes(1);
  Duration retry_timeout = std::chrono::seconds(10);

  // A directory of this process alone, which takes failures while the store does not answer. Empty:
  // none, and a caller is told when the store is away.
  std::string spool = "recourse-spool";
  std::size_t spool_bytes = std::size_t{64} * 1024 * 1024;
  // How long a caller waits for the store before the spool takes its failure.
  Duration store_patience = std::chrono::milliseconds(250);

  // Completed records are deleted by themselves; UTC, as Schedule::when. Empty: they are not.
  std::string clean_when = "0 0 * * sun";
  Duration clean_after = std::chrono::hours(24 * 30);
};

// What people know of a side effect, beside its payload. All of it may be empty.
struct DegradeKeys {
  // By these it is found: up to 255 bytes of plain text each.
  std::string member = {};
  std::string related_id = {};
  std::string type = {};
  // For people who look at it.
  std::optional<std::int64_t> amount = std::nullopt;
  std::string remark = {};
  // Of what is granted.
  std::optional<TimePoint> expires_at = std::nullopt;
  std::string tenant = {};
};

// What an action is told of the call it is made in.
class InlineCall {
 public:
  InlineCall(std::string id, std::stop_token stop) : id_(std::move(id)), stop_(std::move(stop)) {}

  // The same that the handler will see in Attempt::id(), should it come to that: the idempotency
  // key of the receiver.
  [[nodiscard]] const std::string& id() const { return id_; }
  // Set when nobody waits for the action any more.
  [[nodiscard]] const std::stop_token& stop_token() const { return stop_; }

 private:
  std::string id_;
  std::stop_token stop_;
};

// What became of a side effect.
template <class T>
struct Attempted {
  // Empty where it was degraded.
  std::optional<T> value;
  // It did not work, or was not tried; it is on the record, and will be made good.
  bool degraded = false;
  // Of the record, where there is one; in any case what the action was given.
  std::string id;
  // Why it was degraded.
  std::string reason;
};

// PENDING, COMPLETED and FAILED are a view of a task's state.
struct FailureRecord {
  std::string id;
  std::string kind;
  // PENDING: will be tried again. COMPLETED: nothing is left to do. FAILED: a person has to look.
  std::string status;
  // The task's own, as in TaskView.
  std::string state;
  std::string member;
  std::string related_id;
  std::string type;
  std::string tenant;
  std::optional<std::int64_t> amount;
  std::string remark;
  std::optional<TimePoint> expires_at;
  std::string failure_reason;
  TimePoint failed_at;
  // Of this episode, that is since the last retry by hand of one that FAILED.
  int retries = 0;
  int max_retries = 0;
  std::optional<TimePoint> last_retry_at;
  std::string last_error;
  std::optional<TimePoint> next_retry_at;
  std::optional<TimePoint> ended_at;
};

// What is left empty does not matter.
struct FailureQuery {
  // PENDING, COMPLETED or FAILED.
  std::string status = {};
  std::string kind = {};
  std::string member = {};
  std::string related_id = {};
  std::string type = {};
  std::string tenant = {};
  // Of the failure, to the millisecond; half open.
  std::optional<TimePoint> from = std::nullopt;
  std::optional<TimePoint> before = std::nullopt;
};

struct FailurePage {
  std::vector<FailureRecord> records;  // newest first
  // Goes into the next call; empty at the end.
  std::string next;
};

struct FailureSummary {
  std::int64_t pending = 0;
  std::int64_t completed = 0;
  std::int64_t failed = 0;
  // Of the FAILED ones, ten.
  std::vector<FailureRecord> newest_failed;
  // Of the PENDING ones, ten; of the newest 5,000 where there are more.
  std::vector<FailureRecord> most_retried;
  bool saw_all_pending = true;
  // Waiting in the spool of this process.
  std::size_t spooled_bytes = 0;
};

struct RetriedMany {
  std::size_t retried = 0;
  std::size_t refused = 0;
  // The bound was reached, or it was told to end.
  bool more = false;
};

namespace detail {

// What an action may answer: nothing, a bool, a value, or a Result of any of them.
template <class R>
struct ActionValue {
  using Type = R;
};
template <>
struct ActionValue<void> {
  using Type = bool;
};
template <>
struct ActionValue<Result<void>> {
  using Type = bool;
};
template <class T>
struct ActionValue<Result<T>> {
  using Type = T;
};

}  // namespace detail

// Safe to use from any thread; handlers are registered before the engine starts. The engine must
// outlive it.
class Degrade {
 public:
  // Before the engine starts. Bad options are refused by name; kConflict where another process has
  // the spool.
  static Result<Degrade> on(Engine& engine, const DegradeOptions& options = {});
  // Asks actions that still run to stop, and waits for them. The spool is left to the next start.
  ~Degrade();
  Degrade(Degrade&&) noexcept;
  Degrade& operator=(Degrade&&) noexcept;

  // Exponential from a minute, up to an hour.
  static KindOptions preset();

  // Who makes failures of the kind good, by the options above. As Engine::handle_bytes, but a kind
  // that ends in `*` is refused: failures are listed and counted by their kinds.
  Degrade& handle_bytes(std::string_view kind, Handler handler,
                        const KindOptions& options = preset(), const Probe& probe = nullptr);
  template <class T, class F>
  Degrade& handle(std::string_view kind, F handler, const KindOptions& options = preset(),
                  const Probe& probe = nullptr) {
    return handle_bytes(kind, typed_handler<T>(std::move(handler)), options, probe);
  }
  // The same for a kind whose handler is in another process: this one records, lists and retries.
  Degrade& know(std::string_view kind);

  // Calls `action(const InlineCall&)` on a thread of its own and waits for it, up to the limit.
  // What it throws, false, an error, and no answer in time are failures: they are on the record
  // when this returns, and the caller goes on. An error of this call itself means that nothing was
  // recorded: bad input (kInvalid, the action was not called), or neither the store nor the spool
  // could take the failure (kExhausted: the spool is full).
  //
  // The action is copied, and may still run when its caller has long gone: it must own what it
  // uses. It should watch its stop token, and its own calls should have time-outs.
  template <class P, class F>
    requires(!std::is_convertible_v<P, std::string_view>)
  auto
  attempt(std::string_view kind, const P& payload, const DegradeKeys& keys, F action) -> Result<
      Attempted<typename detail::ActionValue<std::invoke_result_t<F&, const InlineCall&>>::Type>> {
    Result<std::string> bytes = encode_payload(payload);
    if (!bytes) return fail(bytes.error());
    return attempt(kind, std::string_view(*bytes), keys, std::move(action));
  }
  template <class F>
  auto attempt(std::string_view kind, std::string_view payload, const DegradeKeys& keys, F action)
      -> Result<Attempted<
          typename detail::ActionValue<std::invoke_result_t<F&, const InlineCall&>>::Type>> {
    using Answer = std::invoke_result_t<F&, const InlineCall&>;
    using Value = typename detail::ActionValue<Answer>::Type;
    // Shared, because an action that overruns answers when nobody looks any more.
    auto value = std::make_shared<std::optional<Value>>();
    Result<Tried> tried = try_it(
        kind, payload, keys, [value, action = std::move(action)](const InlineCall& call) mutable {
          if constexpr (std::is_void_v<Answer>) {
            action(call);
            value->emplace(true);
            return Result<>();
          } else {
            return take(*value, action(call));
          }
        });
    if (!tried) return fail(tried.error());
    Attempted<Value> attempted{.value = std::nullopt,
                               .degraded = tried->degraded,
                               .id = std::move(tried->id),
                               .reason = std::move(tried->reason)};
    if (!tried->degraded) attempted.value = std::move(*value);
    return attempted;
  }

  // For those who caught the error themselves. Answers the record's id once it is durable.
  Result<std::string> record_failure(std::string_view kind, std::string_view payload,
                                     const DegradeKeys& keys, std::string_view reason);
  // The same under an id from Engine::new_id(), which the failed call was made with. Repeating it
  // is harmless; kConflict where the id is another task's, or another failure's.
  Result<std::string> record_failure(std::string_view kind, std::string_view payload,
                                     const DegradeKeys& keys, std::string_view reason,
                                     std::string_view id);

  Result<FailurePage> list(const FailureQuery& query = {}, std::size_t limit = 100,
                           std::string_view after = {});
  Result<FailureRecord> find(std::string_view id);
  // done or requested, as Engine::retry_now. kConflict: it is COMPLETED.
  Result<std::string> retry(std::string_view id, std::string_view by);
  // FAILED ones unless the query says otherwise, newest first, at most `bound`. `told` hears of
  // every page; answering false ends it.
  Result<RetriedMany> retry_all(FailureQuery query, std::size_t bound, std::string_view by,
                                const std::function<bool(const RetriedMany&)>& told = nullptr);
  // Deletes COMPLETED records that ended longer ago, never others. Answers how many.
  Result<std::size_t> clean(Duration older_than, std::string_view by);
  Result<FailureSummary> summary();
  // What waits in the spool of this process, without asking the store.
  [[nodiscard]] std::size_t spooled_bytes() const;

 private:
  struct Impl;
  struct Tried {
    bool degraded = false;
    std::string id;
    std::string reason;
  };

  template <class T>
  static Result<> take(std::optional<T>& value, T answer) {
    if constexpr (std::is_same_v<T, bool>) {
      if (!answer) return fail(ErrorCode::kUnavailable, "the action answered false");
    }
    value.emplace(std::move(answer));
    return {};
  }
  template <class T, class U>
  static Result<> take(std::optional<T>& value, Result<U> answer) {
    if (!answer) return fail(std::move(answer).error());
    if constexpr (std::is_void_v<U>) {
      value.emplace(true);
      return {};
    } else {
      return take<T>(value, *std::move(answer));
    }
  }

  Result<Tried> try_it(std::string_view kind, std::string_view payload, const DegradeKeys& keys,
                       std::function<Result<>(const InlineCall&)> action);

  explicit Degrade(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace recourse
