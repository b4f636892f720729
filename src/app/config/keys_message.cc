// The keys of the message door: where messages come from, and what holds for all of them.
#include "app/config/keys.h"
#include "app/config/rows.h"
#include "app/config/text_checks.h"
#include "base/text.h"

namespace recourse::app {
namespace {

using namespace std::chrono_literals;

// Each consumer has two threads and a connection.
constexpr int kConsumersMax = 64;
// Each source has a consumer at least.
constexpr std::size_t kSourcesMax = 100;

// One of two words.
template <class Enum>
struct Word {
  Enum value;
  std::string text;
};

template <class Enum>
Key either(std::string path, Enum& value, const Word<Enum>& one, const Word<Enum>& other,
           About about) {
  const Place<std::string> place{
      [&value, one, other] { return std::optional(value == one.value ? one.text : other.text); },
      [&value, one, other](const std::string& word) {
        value = word == one.text ? one.value : other.value;
      }};
  return one_of(std::move(path), place, {one.text, other.text}, about);
}

std::string check_broker_name(std::string_view text) {
  if (!text.empty() && text.size() <= 100 && is_plain_text(text)) return {};
  return "must be 1 to 100 bytes of text without control characters";
}

Keys names_of_source(SourceConfig& source) {
  return {
      required(broker_url("url", at(source.url),
                          {"The broker: amqp://, amqps://, kafka://, kafkas:// or redis://. With a "
                           "password in it: env:NAME or file:PATH.",
                           Reload::kRestart, "env:ORDERS_BROKER"})),
      required(text("topic", at(source.settings.topic),
                    {"The queue (RabbitMQ), topic (Kafka) or stream (Redis) that is consumed.",
                     Reload::kRestart, "orders"},
                    check_broker_name)),
      required(text("group", at(source.settings.group),
                    {"The consumers' group: those of one group share a topic's messages. On "
                     "RabbitMQ, where a queue is a group, only a name in records.",
                     Reload::kRestart, "billing"},
                    check_broker_name)),
      required(text("kind", at(source.kind),
                    {"The kind that handles its messages; it must be declared under kinds.",
                     Reload::kRestart, "bill-order"},
                    check_kind_name)),
      text("tenant", at(source.tenant),
           {"Whose its messages are; nobody's in particular where not given.", Reload::kRestart,
            "shop"},
           check_broker_name),
  };
}

Keys flow_of_source(SourceConfig& source) {
  return {
      integer("consumers", at(source.consumers), 1, kConsumersMax,
              {"Consumers in this process, each with a connection of its own."}),
      count("prefetch", at(source.settings.prefetch), 1, 10'000,
            {"Messages that a consumer has received and not yet acknowledged, at most."}),
      count("batch", at(source.batch), 1, store::kBatchRowsMax,
            {"Messages that are recorded in one transaction, at most."}),
      count("backlog-limit", at(source.backlog_limit), 1, 100'000'000,
            {"While so many tasks of its kind are unfinished, nothing is taken from the broker."}),
      duration("keep-done-for", at(source.keep_done_for), 1min, kLongestWait,
               {"How long it is remembered that a message was dealt with, so that one that is "
                "delivered again is recognised."}),
      duration("heartbeat", at(source.settings.heartbeat), 1s, 10min,
               {"After how long of silence broker and consumer take each other for dead."}),
      duration("reconnect-max", at(source.settings.reconnect_max), 1s, 1h,
               {"The longest pause before a lost broker is connected to again; it grows from 100 "
                "ms."}),
  };
}

Keys handling_of_source(SourceConfig& source) {
  return {
      either<message::BodyFormat>("format", source.format, {message::BodyFormat::kAny, "any"},
                                  {message::BodyFormat::kJson, "json"},
                                  {"How a body must look; one that does not goes straight to a "
                                   "person, with SERDE_ERROR, when it comes and at every retry "
                                   "(kinds of the type worker: only when it comes)."}),
      either<MessageOrder>("order", source.order, {MessageOrder::kOff, "off"},
                           {MessageOrder::kKey, "key"},
                           {"key: messages of one key are handled one after the other, and wait "
                            "behind one that failed. Not for kinds of the type worker."}),
      either<DeadHead>("dead-head", source.dead_head, {DeadHead::kBlock, "block"},
                       {DeadHead::kSkip, "skip"},
                       {"With order: key, what a message that waits for a person means for the "
                        "later ones of its key: they wait too, or they go past it."}),
      either<RetryBy>("retry-by", source.retry_by, {RetryBy::kHandler, "handler"},
                      {RetryBy::kPublish, "publish"},
                      {"Who tries a failed message again: the kind's handler, or whoever consumes "
                       "it after it was published to its topic again. Not for kinds of the type "
                       "worker."}),
  };
}

Keys broker_of_source(message::SourceSettings& settings) {
  using message::OffsetStart;
  using message::QueueType;
  return {
      text("tls-ca", at(settings.tls_ca),
           {"Whom to trust instead of the system's authorities: a PEM file.", Reload::kRestart,
            "/etc/recourse/broker-ca.pem"}),
      boolean("rabbitmq.declare", at(settings.rabbitmq.declare),
              {"Declares the queue, durable, where it is missing. Off, a missing queue is shown as "
               "an error, because it may be a typing mistake."}),
      either<QueueType>("rabbitmq.queue-type", settings.rabbitmq.queue_type,
                        {QueueType::kQuorum, "quorum"}, {QueueType::kClassic, "classic"},
                        {"Of a queue that is declared here."}),
      either<OffsetStart>("kafka.start", settings.kafka.start, {OffsetStart::kEarliest, "earliest"},
                          {OffsetStart::kLatest, "latest"},
                          {"Where a group begins that has no offset yet; the latest loses what "
                           "came before its first start."}),
      one_of("kafka.sasl-mechanism", at(settings.kafka.sasl_mechanism),
             {"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"},
             {"How the user of the URL shows its password."}),
      duration("redis.claim-after", at(settings.redis.claim_after), 100ms, 24h,
               {"An entry that a dead consumer has had for so long is taken from it."}),
      text("redis.body-field", at(settings.redis.body_field),
           {"The field of an entry that is the body; the others are headers."}, check_broker_name),
  };
}

Keys source_keys(SourceConfig& source) {
  Keys keys = names_of_source(source);
  for (Keys part :
       {flow_of_source(source), handling_of_source(source), broker_of_source(source.settings)}) {
    for (Key& key : part) keys.push_back(std::move(key));
  }
  return keys;
}

Key sources_key(MessagesConfig& messages) {
  Items items{.max = kSourcesMax};
  items.add = [&messages](const std::string& name) {
    return source_keys(messages.sources.try_emplace(name).first->second);
  };
  items.all = [&messages] {
    std::vector<std::pair<std::string, Keys>> all;
    for (auto& [name, source] : messages.sources) all.emplace_back(name, source_keys(source));
    return all;
  };
  items.refuse_name = check_name;
  return {.path = "sources",
          .type = "a map of sources by name",
          .about = {"Queues, topics and streams whose messages are recorded as tasks and handled "
                    "by a kind. The name makes a message one and the same: it must stay."},
          .items = std::make_shared<const Items>(std::move(items))};
}

}  // namespace

Keys message_keys(MessagesConfig& messages) {
  return {
      duration("keep-processed", at(messages.keep_processed), 1h, kLongestWait,
               {"How long messages that were processed are kept, where their kind's retention does "
                "not say."}),
      duration("keep-ignored", at(messages.keep_ignored), 1h, kLongestWait,
               {"How long messages that somebody ignored or cancelled are kept, where their kind's "
                "retention does not say. Those that wait for a person are never deleted so."}),
      sources_key(messages),
  };
}

}  // namespace recourse::app
