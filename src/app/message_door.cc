#include "app/message_door.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

#include "message/address.h"
#include "message/body_format.h"
#include "message/hand_over.h"
#include "message/log_lines.h"
#include "message/open_source.h"
#include "message/ordering.h"
#include "message/replay.h"

namespace recourse::app {
namespace {

// Of a message that is published again.
constexpr Duration kPublishWithin = std::chrono::seconds(5);

Error in_source(const std::string& name, const Error& error) {
  return {error.code, fmt::format("messages.sources.{}: {}", name, error.message)};
}

Result<api::SourceCard> card_of(const std::string& name, const SourceConfig& source) {
  const auto address = message::parse_address(source.url.reveal());
  if (!address) return fail(in_source(name, address.error()));
  return api::SourceCard{.name = name,
                         .broker = std::string(to_string(address->broker)),
                         .address = message::where(*address),
                         .topic = source.settings.topic,
                         .group = source.settings.group,
                         .kind = source.kind,
                         .tenant = task::Tenant(source.tenant),
                         .consumers = source.consumers};
}

// For the store or a broker, before the kind's handler is called.
bool waits(const SourceConfig& source) {
  return source.order == MessageOrder::kKey || source.retry_by == RetryBy::kPublish;
}

bool is_wrapped(const SourceConfig& source) {
  return waits(source) || source.format != message::BodyFormat::kAny;
}

// Connected means all of them; a trouble is anybody's.
void add_figures(message::FeederFigures& sum, const message::FeederFigures& one) {
  sum.connected = sum.connected && one.connected;
  sum.is_full = sum.is_full || one.is_full;
  if (sum.trouble.empty()) sum.trouble = one.trouble;
  sum.received += one.received;
  sum.acknowledged += one.acknowledged;
  sum.given_back += one.given_back;
  sum.refused += one.refused;
  sum.errors += one.errors;
  sum.last_received_at = std::max(sum.last_received_at, one.last_received_at);
}

}  // namespace

std::vector<task::Kind> message_kinds_of(const Config& config) {
  std::vector<task::Kind> kinds;
  for (const auto& [name, kind] : config.kinds) {
    if (kind.message) kinds.emplace_back(name);
  }
  return kinds;
}

message::SourceSettings source_settings(const std::string& name, const SourceConfig& source) {
  message::SourceSettings settings = source.settings;
  settings.name = name;
  settings.url = source.url.reveal();
  return settings;
}

Result<> check_sources(const Config& config, Log& log) {
  for (const auto& [name, source] : config.messages.sources) {
    const auto opened = message::open_source(source_settings(name, source), log);
    if (!opened) return fail(in_source(name, opened.error()));
  }
  return {};
}

MessageDoor::MessageDoor(const Parts& parts) : parts_(parts), backlog_(parts.opened.reader()) {}

MessageDoor::~MessageDoor() = default;

Result<std::unique_ptr<MessageDoor>> MessageDoor::open(const Config& config, const Parts& parts) {
  std::unique_ptr<MessageDoor> door(new MessageDoor(parts));
  for (const auto& [name, source] : config.messages.sources) {
    if (Result<> added = door->add(config, name, source); !added) return fail(added.error());
  }
  return door;
}

Result<> MessageDoor::add(const Config& config, const std::string& name,
                          const SourceConfig& source) {
  auto card = card_of(name, source);
  if (!card) return fail(card.error());
  Source added{.config = source, .card = *std::move(card)};
  for (int i = 0; i < source.consumers; ++i) {
    auto opened = message::open_source(source_settings(name, source), parts_.log);
    if (!opened) return fail(in_source(name, opened.error()));
    message::FeederSettings settings;
    settings.batch = std::min(source.batch, source.settings.prefetch);
    settings.is_full = [this, kind = source.kind, limit = source.backlog_limit] {
      return backlog_.has_reached(kind, limit);
    };
    added.consumers.push_back(std::make_unique<message::Feeder>(
        name, *std::move(opened), std::move(settings), deal_of(config, source), parts_.log));
  }
  sources_.emplace(name, std::move(added));
  return {};
}

message::Deal MessageDoor::deal_of(const Config& config, const SourceConfig& source) {
  const KindConfig& kind = config.kinds.at(source.kind);
  message::HandOverSettings settings;
  settings.group = source.settings.group;
  settings.format = source.format;
  settings.handling = {.kind = task::Kind(source.kind),
                       .tenant = task::Tenant(source.tenant),
                       .max_retries = kind.max_retries,
                       .timeout = kind.timeout,
                       .ordered = source.order == MessageOrder::kKey,
                       .keep_done_for = source.keep_done_for};
  return message::hand_over(std::move(settings),
                            {.inbox = parts_.opened.inbox(),
                             .ids = parts_.ids,
                             .refusals = refusals_,
                             .log = parts_.log,
                             .store_now = [&node = parts_.node] { return node.store_now(); },
                             .happened = parts_.decided,
                             .hint =
                                 [&node = parts_.node] {
                                   node.hint_work();
                                   node.hint_others(store::Hint::kWork);
                                 }});
}

bool MessageDoor::may_wait(const std::string& kind) const {
  return std::ranges::any_of(sources_, [&](const auto& named) {
    return named.second.config.kind == kind && waits(named.second.config);
  });
}

engine::Handler MessageDoor::of_source(Source& source, engine::Handler handler) {
  if (source.config.retry_by == RetryBy::kPublish) {
    // Any of its consumers will do.
    message::Feeder& feeder = *source.consumers.front();
    handler = message::replay_retries(std::move(handler),
                                      {.inbox = parts_.opened.inbox(),
                                       .log = parts_.log,
                                       .publish = [&feeder](message::Outgoing outgoing) {
                                         return feeder.publish(std::array{std::move(outgoing)},
                                                               kPublishWithin);
                                       }});
  }
  // Before it is published: whoever consumes it could not read it either.
  if (source.config.format != message::BodyFormat::kAny) {
    handler = message::check_body(std::move(handler), source.config.format);
  }
  if (source.config.order == MessageOrder::kKey) {
    handler = message::keep_order(std::move(handler), parts_.opened.reader(),
                                  {.skips_dead_heads = source.config.dead_head == DeadHead::kSkip});
  }
  return handler;
}

engine::Handler MessageDoor::wrap(const std::string& kind, engine::Handler handler) {
  handler = message::announcing(std::move(handler), parts_.log);
  // A search key says only what somebody claims: the source's own are those of its tenant.
  using Owner = std::pair<task::Tenant, std::string>;
  std::map<Owner, engine::Handler> by_source;
  for (auto& [name, source] : sources_) {
    if (source.config.kind != kind || !is_wrapped(source.config)) continue;
    by_source.emplace(Owner{task::Tenant(source.config.tenant), message::search_text(name)},
                      of_source(source, handler));
  }
  if (by_source.empty()) return handler;
  return [by_source = std::move(by_source),
          usual = std::move(handler)](const std::shared_ptr<engine::AttemptRun>& run) {
    const task::TaskSpec& spec = run->task().spec;
    const auto name = spec.search_keys.find(std::string(message::kSourceKey));
    const auto own = name == spec.search_keys.end() ? by_source.end()
                                                    : by_source.find({spec.tenant, name->second});
    (own == by_source.end() ? usual : own->second)(run);
  };
}

void MessageDoor::start() {
  for (auto& [name, source] : sources_) {
    for (const auto& consumer : source.consumers) consumer->start();
  }
}

void MessageDoor::stop(Duration limit) {
  // All at once: each may take as long.
  std::vector<std::jthread> stops;
  for (auto& [name, source] : sources_) {
    for (const auto& consumer : source.consumers) {
      stops.emplace_back([&feeder = *consumer, limit] { feeder.stop(limit); });
    }
  }
}

void MessageDoor::join() {
  for (auto& [name, source] : sources_) {
    for (const auto& consumer : source.consumers) consumer->join();
  }
}

std::vector<api::SourceCard> MessageDoor::sources() const {
  std::vector<api::SourceCard> cards;
  for (const auto& [name, source] : sources_) {
    api::SourceCard card = source.card;
    card.figures.connected = true;
    for (const auto& consumer : source.consumers) add_figures(card.figures, consumer->figures());
    cards.push_back(std::move(card));
  }
  return cards;
}

}  // namespace recourse::app
