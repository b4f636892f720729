// The sources of the message door: a feeder for each connection.
#include <fmt/format.h>

#include <thread>
#include <utility>

#include "base/field_checks.h"
#include "base/text.h"
#include "embed/messages_impl.h"
#include "message/open_source.h"
#include "store/limits.h"

namespace recourse {
namespace {

constexpr int kConsumersMax = 64;
constexpr Duration kPublishPatience = std::chrono::seconds(5);
// The broker's thread waits for it, and must be back soon.
constexpr Duration kCountWithin = std::chrono::seconds(1);

message::SourceSettings settings_of(const SourceOptions& options) {
  message::SourceSettings settings{.name = options.name,
                                   .url = options.url,
                                   .topic = options.topic,
                                   .group = options.group,
                                   .consumer = options.consumer,
                                   .prefetch = options.prefetch,
                                   .heartbeat = options.heartbeat,
                                   .reconnect_min = options.reconnect_min,
                                   .reconnect_max = options.reconnect_max,
                                   .tls_ca = options.tls_ca};
  settings.rabbitmq = {.declare = options.declare_queue,
                       .queue_type = options.quorum_queue ? message::QueueType::kQuorum
                                                          : message::QueueType::kClassic};
  settings.kafka = {.start = options.start_at_latest ? message::OffsetStart::kLatest
                                                     : message::OffsetStart::kEarliest,
                    .sasl_mechanism = options.sasl_mechanism};
  settings.redis = {.claim_after = options.claim_after, .body_field = options.body_field};
  return settings;
}

}  // namespace

void embed::MessageDoor::stop(Duration limit) {
  std::vector<std::jthread> ends;
  for (const MessageFeeder& one : feeders) {
    ends.emplace_back([feeder = one.feeder.get(), limit] { feeder->stop(limit); });
  }
}

Result<> embed::MessageDoor::check() const {
  for (const auto& [name, group] : groups) {
    if (!group->options.replay_to_broker || feeder_of(name, "") != nullptr) continue;
    return fail(ErrorCode::kInvalid,
                fmt::format("message group {} replays to its broker: give it a source with from",
                            shown(name)));
  }
  return {};
}

message::Feeder* embed::MessageDoor::feeder_of(std::string_view group,
                                               std::string_view topic) const {
  message::Feeder* any = nullptr;
  for (const MessageFeeder& one : feeders) {
    if (one.group != group) continue;
    if (one.topic == topic) return one.feeder.get();
    if (any == nullptr) any = one.feeder.get();
  }
  return any;
}

Result<> embed::MessageDoor::publish(std::string_view group, message::Outgoing outgoing) const {
  message::Feeder* const feeder = feeder_of(group, outgoing.topic);
  if (feeder == nullptr) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("group {} has no source that it could be published to", shown(group)));
  }
  return feeder->publish(std::span(&outgoing, 1), kPublishPatience);
}

Result<> Messages::Impl::add_source(const SourceOptions& source) {
  using namespace std::chrono_literals;
  const auto refuse = [&](std::string_view why) {
    return fail(ErrorCode::kInvalid, fmt::format("source {}: {}", shown(source.name), why));
  };
  embed::MessageGroup* group = door.find(source.group);
  if (group == nullptr || !group->consumer->handles()) {
    return refuse(
        fmt::format("group {} has no handler here: give it to handle before the engine "
                    "starts",
                    shown(source.group)));
  }
  const Result<> valid = FieldChecks("source")
                             .between("consumers", source.consumers, 1, kConsumersMax)
                             .between("batch", source.batch, std::size_t{1}, store::kBatchRowsMax)
                             .between("most_waiting", source.most_waiting, std::int64_t{1},
                                      std::int64_t{1'000'000'000})
                             .result();
  if (!valid) return refuse(valid.error().message);
  for (int i = 1; i <= source.consumers; ++i) {
    message::SourceSettings settings = settings_of(source);
    if (!settings.consumer.empty() && i > 1) settings.consumer += fmt::format("-{}", i);
    auto opened = message::open_source(settings, engine.log);
    if (!opened) return refuse(opened.error().message);
    message::FeederSettings feeding{.batch = source.batch};
    feeding.is_full = [&engine = engine, kind = group->handling.kind, most = source.most_waiting] {
      const auto counts = engine.store.opened->reader().counts(kCountWithin);
      if (!counts) return false;  // the store's trouble is told elsewhere
      const auto waiting = counts->find({kind, task::State::kPending});
      return waiting != counts->end() && waiting->second >= most;
    };
    door.feeders.push_back({.group = source.group,
                            .topic = source.topic,
                            .feeder = std::make_unique<message::Feeder>(
                                source.name, *std::move(opened), std::move(feeding),
                                group->consumer->deal(), engine.log)});
  }
  return {};
}

std::vector<SourceFigures> Messages::sources() const {
  std::vector<SourceFigures> all;
  for (const embed::MessageFeeder& one : impl_->door.feeders) {
    const message::FeederFigures figures = one.feeder->figures();
    all.push_back({.name = one.feeder->name(),
                   .connected = figures.connected,
                   .trouble = figures.trouble,
                   .is_full = figures.is_full,
                   .received = figures.received,
                   .acknowledged = figures.acknowledged,
                   .given_back = figures.given_back,
                   .refused = figures.refused,
                   .errors = figures.errors,
                   .last_received_at = figures.last_received_at});
  }
  return all;
}

}  // namespace recourse
