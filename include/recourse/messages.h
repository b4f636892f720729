// A message whose handler fails is neither lost, nor handled twice, nor in the way of those behind
// it: it is on the record before the broker hears that it was taken, and retried after 1, 2, 4, 8
// and 16 seconds; then a person has to look.
//
//   auto messages = recourse::Messages::on(engine).value();
//   messages.handle<Order>("billing", [&](const recourse::MessageContext& message,
//                                         const Order& order) {
//     invoices.write(message.idempotency_key(), order);
//     return order.id;  // the business's own id
//   });
//   messages.from({.name = "shop", .url = "amqp://guest:guest@localhost/", .topic = "orders",
//                  .group = "billing"});
//   engine.start().value();
//
// A program that has its own consumer, of whatever broker, hands over what it receives:
//
//   const auto consumed = messages.consume({.topic = "orders", .id = id, .body = body}, "billing");
//   if (consumed) broker.acknowledge(id);  // otherwise the broker keeps it, and delivers it again
//
// Messages are known by source, group, topic and id, for as long as `keep_done_for` says: one that
// is delivered again is skipped. Between what a handler does and its mark a process can die, and
// the message is handled once more after that. The receiver recognises the repetition by
// idempotency_key(); or the effect goes into the transaction of the mark, see
// handle_in_transaction, and happens exactly once.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "recourse/codec.h"
#include "recourse/create.h"
#include "recourse/engine.h"
#include "recourse/message_failure.h"
#include "recourse/message_records.h"
#include "recourse/result.h"
#include "recourse/time.h"

namespace recourse {

namespace detail {
class MessageAccess;
}

// As its consumer received it.
struct IncomingMessage {
  // The queue, topic or stream.
  std::string topic;
  std::string tags = {};
  // Messages with one key are in order, where that is asked for.
  std::string key = {};
  // Unique within its topic. Empty: a hash of the body, so that equal bodies are one message.
  std::string id = {};
  std::string body = {};
  std::vector<MessageHeader> headers = {};
  // Tells brokers apart that have topics of one name. May be empty.
  std::string source = {};
  std::optional<TimePoint> published_at = std::nullopt;
};

// What a handler is told of the message it handles. Valid while it runs.
class MessageContext {
 public:
  [[nodiscard]] const std::string& id() const;
  [[nodiscard]] const std::string& topic() const;
  [[nodiscard]] const std::string& tags() const;
  [[nodiscard]] const std::string& key() const;
  [[nodiscard]] const std::string& source() const;
  [[nodiscard]] const std::string& group() const;
  [[nodiscard]] const std::vector<MessageHeader>& headers() const;
  // Empty where there is none.
  [[nodiscard]] std::string header(std::string_view name) const;
  [[nodiscard]] const std::string& body() const;
  [[nodiscard]] const std::optional<TimePoint>& published_at() const;
  // The same however often the message is delivered or retried, at most 80 letters and digits: the
  // key by which a downstream recognises a repetition.
  [[nodiscard]] const std::string& idempotency_key() const;
  // 1 at the first run, which is the consumer's own; later ones are retries.
  [[nodiscard]] int attempt() const;
  [[nodiscard]] int max_retries() const;
  // Set when its time is up (of retries), or the process is about to stop.
  [[nodiscard]] std::stop_token stop_token() const;

  // What it is about, should it fail: whatever is thrown after this, its record is found by it.
  void about(std::string_view business_id) const;

 private:
  friend class detail::MessageAccess;
  struct Impl;
  explicit MessageContext(Impl& impl) : impl_(&impl) {}
  Impl* impl_;
};

// Answers the business id, which may be empty. What it throws is classified: connections and
// time-outs of network and database, and texts that speak of them, are retried, everything else is
// for a person, and MessageFailure says so itself. Of an error that it answers, kUnavailable,
// kInDoubt and kExhausted are retried.
using MessageHandler = std::function<Result<std::string>(const MessageContext&)>;
// The same inside of a transaction of the store's: the message counts as done if, and only if, what
// it wrote is there.
using TransactionalMessageHandler =
    std::function<Result<std::string>(CreateTransaction& own, const MessageContext&)>;

enum class DeadHead : std::uint8_t {
  kBlocks,  // messages of its key wait until a person has decided on it
  kSkip,    // they go on without it
};

// How a group's messages are handled.
struct GroupOptions {
  int max_retries = 5;
  // Before the first retry; doubles with each. No jitter.
  Duration base_delay = std::chrono::seconds(1);
  // Of each retry. The first run is on the consumer's thread, and takes what it takes, unless it
  // shares a transaction: see handle_in_transaction.
  Duration timeout = std::chrono::seconds(10);
  // How long it is remembered that a message was done: longer than a broker may take to deliver it
  // again.
  Duration keep_done_for = std::chrono::hours(24 * 7);
  // Messages of one key one after the other, also behind one that waits for its retry. Costs a look
  // at the store for each message that has a key.
  bool ordered = false;
  DeadHead dead_head = DeadHead::kBlocks;
  // A retry publishes the message to its topic again, for whichever consumer gets it, instead of
  // running the handler here. Needs a source of this group with `from`.
  bool replay_to_broker = false;
  // In the engine: handlers of retries at once (zero: a quarter of its threads), and whether a
  // breaker spares a downstream that fails.
  int concurrency = 0;
  bool breaker = true;
  std::string tenant = {};

  // A program's own rules, all of them callable from any thread.
  // Asked first; nothing: the product's rules decide.
  std::function<std::optional<MessageDecision>(const MessageError&)> classify = nullptr;
  // Before retry 1, 2, 3, ... instead of the doubling.
  std::function<Duration(int retry)> delay = nullptr;
  // What a retry does instead of running the handler again.
  MessageHandler retry_action = nullptr;
};

struct MessagesOptions {
  // Of groups that are given none of their own.
  GroupOptions groups = {};
  // Records are deleted by themselves; UTC, as Schedule::when. Empty: they are not. PENDING ones
  // stay until a person has decided.
  std::string clean_when = "30 3 * * *";
  Duration keep_processed = std::chrono::hours(24 * 30);
  Duration keep_ignored = std::chrono::hours(24 * 90);
};

// Where messages come from: `amqp://`, `amqps://`, `kafka://` or `redis://`.
struct SourceOptions {
  // In records, log lines and keys: another name makes other messages of them.
  std::string name = {};
  std::string url = {};
  // The queue, topic or stream.
  std::string topic = {};
  // Whose handler gets them. Consumers of one group share a topic's messages; on RabbitMQ a queue
  // is what is shared.
  std::string group = {};
  // Of this process within its group; empty: made up.
  std::string consumer = {};
  // Connections, and threads that run handlers. More than one lets messages overtake each other,
  // but for Kafka's, where each has partitions of its own.
  int consumers = 1;
  // The most messages that are received and not yet acknowledged, and that are looked up and marked
  // together. Where a handler takes a second, 2,000 of them are more than half an hour, after which
  // RabbitMQ gives up a consumer: slow ones want few.
  std::size_t prefetch = 2'000;
  std::size_t batch = 500;
  // Nothing new is taken while so many messages of the group wait for their retries.
  std::int64_t most_waiting = 100'000;
  Duration heartbeat = std::chrono::seconds(30);
  Duration reconnect_min = std::chrono::milliseconds(100);
  Duration reconnect_max = std::chrono::seconds(30);
  // A PEM file instead of the system's authorities.
  std::string tls_ca = {};
  // RabbitMQ: makes the queue, durable, where it is missing.
  bool declare_queue = false;
  bool quorum_queue = true;
  // Kafka: a group without an offset begins at the end, and does not see what came before.
  bool start_at_latest = false;
  std::string sasl_mechanism = "PLAIN";
  // Redis: after how long a dead consumer's messages are taken over, and which field is the body.
  Duration claim_after = std::chrono::seconds(60);
  std::string body_field = "body";
};

enum class MessageFate : std::uint8_t {
  kProcessed,  // the handler has done it
  kSkipped,    // it was dealt with before
  kRecorded,   // the handler failed, or has to wait for others of its key: there is a record
};

// What became of a message that may be acknowledged.
struct Consumed {
  MessageFate fate = MessageFate::kProcessed;
  // What the handler answered.
  std::string business_id = {};
  // Of the record, where there is one.
  std::string record = {};
  // Of a recorded one: kRetrying or kPending.
  MessageStatus status = MessageStatus::kProcessed;
  // Why it was recorded.
  std::string error = {};
};

// Safe to use from any thread; groups and sources are given before the engine starts. The engine
// must outlive it.
class Messages {
 public:
  // Before the engine starts. Bad options are refused by name.
  static Result<Messages> on(Engine& engine, const MessagesOptions& options = {});

  // --- before start(); what is wrong is told by start() ---
  // A group is a kind of the engine's tasks, too, and its name is unique among those.
  Messages& handle_bytes(std::string_view group, MessageHandler handler,
                         const std::optional<GroupOptions>& options = std::nullopt);
  // With a typed body: `handler(const MessageContext&, const T&)` answers the business id, as a
  // std::string or a Result of one. A body that does not decode is for a person, with SERDE_ERROR.
  template <class T, class F>
  Messages& handle(std::string_view group, F handler,
                   const std::optional<GroupOptions>& options = std::nullopt) {
    return handle_bytes(group, typed<T>(std::move(handler)), options);
  }
  // `handler(CreateTransaction& own, const MessageContext&, const T&)`: what it writes and the mark
  // of the message commit together. One transaction for each message; on SQLite everybody waits for
  // it, so it is short: it is cut off after 10 s, or the group's `timeout` where that is less, at
  // the first run too. One that does not commit, for that or another reason, is a failure like any
  // other (STORE_COMMIT_FAILED), recorded and retried. Not on a store in memory.
  Messages& handle_bytes_in_transaction(std::string_view group, TransactionalMessageHandler handler,
                                        const std::optional<GroupOptions>& options = std::nullopt);
  template <class T, class F>
  Messages& handle_in_transaction(std::string_view group, F handler,
                                  const std::optional<GroupOptions>& options = std::nullopt) {
    return handle_bytes_in_transaction(
        group,
        [handler = std::move(handler)](
            CreateTransaction& own, const MessageContext& message) mutable -> Result<std::string> {
          return handler(own, message, decoded<T>(message));
        },
        options);
  }
  // A group whose retries are run by another process: this one consumes, lists and steers.
  Messages& know(std::string_view group, const std::optional<GroupOptions>& options = std::nullopt);
  // Takes messages from a broker for the group's handler, from the engine's start() to its stop().
  Messages& from(SourceOptions source);

  // --- for consumers of one's own; after start() ---
  // Skips what was dealt with before; else runs the group's handler on this thread, marks the
  // message, or records its failure. When this answers, it is durable: acknowledge the message. An
  // error means that it is not: leave it to the broker (kInvalid: it can never be taken, such as
  // one without a topic, or one that failed and is larger than a record may be; kConflict: another
  // thread is handling it right now).
  Result<Consumed> consume(const IncomingMessage& message, std::string_view group);
  // With a handler of its own for the first run; retries are the group's.
  Result<Consumed> consume(const IncomingMessage& message, std::string_view group,
                           const MessageHandler& handler);
  template <class T, class F>
  Result<Consumed> consume(const IncomingMessage& message, std::string_view group, F handler) {
    return consume(message, group, typed<T>(std::move(handler)));
  }
  // Up to 500 at once: one look, and one write for as many as are done within 20 ms.
  std::vector<Result<Consumed>> consume_all(std::span<const IncomingMessage> batch,
                                            std::string_view group);

  // --- seeing and steering ---
  // Of several groups under one id, the one that needs attention most. Empty: there is no record.
  Result<std::optional<MessageStatus>> status(std::string_view message_id,
                                              std::string_view group = {});
  Result<std::optional<MessageRecord>> find_by_message_id(std::string_view message_id,
                                                          std::string_view group = {});
  // False: there is no such record, or it was processed before.
  Result<bool> mark_processed_by_message_id(std::string_view message_id, std::string_view by,
                                            std::string_view group = {});

  Result<MessagePage> list(const MessageQuery& query = {}, std::size_t limit = 100,
                           std::string_view after = {});
  Result<MessageRecord> find(std::string_view id);
  // Oldest first; the newest 100.
  Result<std::vector<MessageAttempt>> history(std::string_view id);
  // done or requested, as Engine::cancel. kConflict: nothing is left to decide.
  Result<std::string> mark_processed(std::string_view id, std::string_view by);
  Result<std::string> ignore(std::string_view id, std::string_view by);
  // Of one that waits: now. Of a PENDING one: from the beginning, with all retries.
  Result<std::string> retry(std::string_view id, std::string_view by);
  // PENDING ones unless the query says otherwise, newest first, at most `bound`. `told` hears of
  // every page; answering false ends it.
  Result<RetriedMessages> retry_all(
      MessageQuery query, std::size_t bound, std::string_view by,
      const std::function<bool(const RetriedMessages&)>& told = nullptr);
  // Deletes PROCESSED and IGNORED records that ended longer ago. Answers how many.
  Result<std::size_t> clean(Duration processed_for, Duration ignored_for, std::string_view by);
  Result<MessageSummary> summary();
  [[nodiscard]] std::vector<SourceFigures> sources() const;

 private:
  // Throws MessageFailure where the body is none.
  template <class T>
  static T decoded(const MessageContext& message) {
    Result<T> value = decode_payload<T>(message.body());
    if (!value) throw_undecodable(value.error());
    return *std::move(value);
  }
  template <class T, class F>
  static MessageHandler typed(F handler) {
    return [handler =
                std::move(handler)](const MessageContext& message) mutable -> Result<std::string> {
      return handler(message, decoded<T>(message));
    };
  }
  [[noreturn]] static void throw_undecodable(const Error& error);

  struct Impl;
  explicit Messages(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

}  // namespace recourse
