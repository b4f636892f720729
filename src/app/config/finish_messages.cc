#include "app/config/finish_messages.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "app/config/fill.h"
#include "app/config/suggest.h"
#include "base/text.h"
#include "message/address.h"
#include "message/status.h"

namespace recourse::app {
namespace {

class MessagesFinisher {
 public:
  MessagesFinisher(Config& config, const Where& start, Problems& problems)
      : config_(config), start_(start), problems_(problems) {}

  void run() {
    for (auto& [name, source] : config_.messages.sources) {
      finish_source(path_of_item("messages.sources", name), name, source);
    }
    for (auto& [name, kind] : config_.kinds) {
      if (kind.message) finish_kind(path_of_item("kinds", name), name, kind);
    }
  }

 private:
  [[nodiscard]] bool given(const std::string& path) const { return config_.origins.contains(path); }

  // The first of them that was given.
  [[nodiscard]] Where where(const std::vector<std::string>& paths) const {
    for (const std::string& path : paths) {
      const auto found = config_.origins.find(path);
      if (found != config_.origins.end()) return found->second;
    }
    return start_;
  }

  void finish_source(const std::string& path, const std::string& name, SourceConfig& source) {
    source.settings.name = name;
    // What is missing was said before.
    if (source.url.is_empty() || source.settings.topic.empty() || source.settings.group.empty()) {
      return;
    }
    check_broker(path, source);
    check_unique(path, name, source);
    if (!source.kind.empty()) finish_its_kind(path, source);
  }

  void check_broker(const std::string& path, const SourceConfig& source) {
    const auto address = message::parse_address(source.url.reveal());
    // The row has said why not.
    if (!address) return;
    const auto only_for = [&](std::string_view section, message::BrokerKind broker,
                              const std::vector<std::string>& keys) {
      for (const std::string& key : keys) {
        const std::string whole = fmt::format("{}.{}.{}", path, section, key);
        if (!given(whole) || address->broker == broker) continue;
        problems_.warning(where({whole}), fmt::format("{} is not used: the broker is {}", whole,
                                                      to_string(address->broker)));
      }
    };
    only_for("rabbitmq", message::BrokerKind::kRabbitmq, {"declare", "queue-type"});
    only_for("kafka", message::BrokerKind::kKafka, {"start", "sasl-mechanism"});
    only_for("redis", message::BrokerKind::kRedis, {"claim-after", "body-field"});
    const bool is_ordered = source.order == MessageOrder::kKey;
    if (is_ordered && source.consumers > 1 && address->broker != message::BrokerKind::kKafka) {
      problems_.error(
          where({path + ".consumers", path + ".order", path}),
          fmt::format("{}.consumers must be 1 with order: key: {} gives messages of one key to "
                      "several consumers, who would record them in any order",
                      path, to_string(address->broker)));
    }
    if (is_ordered && source.retry_by == RetryBy::kPublish) {
      problems_.error(where({path + ".retry-by", path + ".order", path}),
                      fmt::format("{}.retry-by: publish is not possible with order: key: what is "
                                  "published again takes its place behind what came later",
                                  path));
    }
    if (given(path + ".dead-head") && !is_ordered) {
      problems_.warning(where({path + ".dead-head"}),
                        fmt::format("{}.dead-head is not used without order: key", path));
    }
  }

  // Two of them would share the messages, and each would know nothing of the other's.
  void check_unique(const std::string& path, const std::string& name, const SourceConfig& source) {
    const auto [other, is_new] = seen_.try_emplace(
        {source.url.reveal(), source.settings.topic, source.settings.group}, name);
    if (is_new) return;
    problems_.error(where({path + ".topic", path}),
                    fmt::format("{} consumes the same topic ({}) of the same broker in the same "
                                "group ({}) as messages.sources.{}: give one of them another "
                                "group, or use consumers for more than one consumer",
                                path, shown(source.settings.topic), shown(source.settings.group),
                                other->second));
  }

  void finish_its_kind(const std::string& path, const SourceConfig& source) {
    const auto kind = config_.kinds.find(source.kind);
    if (kind == config_.kinds.end()) return say_unknown_kind(path, source.kind);
    kind->second.message = true;
    if (kind->second.type != KindType::kWorker) return;
    if (source.order == MessageOrder::kKey) {
      problems_.error(where({path + ".order", path}),
                      fmt::format("{}.order: key is not possible with the kind {} of the type "
                                  "worker: its tasks are leased by programs outside, in whatever "
                                  "order they ask; use the type http or exec",
                                  path, source.kind));
    }
    if (source.retry_by == RetryBy::kPublish) {
      problems_.error(where({path + ".retry-by", path}),
                      fmt::format("{}.retry-by: publish is not possible with the kind {} of the "
                                  "type worker: its retries are leased by programs outside",
                                  path, source.kind));
    }
  }

  void say_unknown_kind(const std::string& path, const std::string& kind) {
    std::vector<std::string> names;
    for (const auto& [name, declared] : config_.kinds) {
      if (!name.ends_with('*')) names.push_back(name);
    }
    const auto near = nearest(kind, names);
    problems_.error(where({path + ".kind", path}),
                    fmt::format("{}.kind: no kind {} is declared under kinds{}", path, shown(kind),
                                near ? fmt::format("; did you mean {}?", *near)
                                     : std::string(", by its whole name")));
  }

  // What the door's preset says, where the kind does not (MSG-6, MSG-10).
  void finish_kind(const std::string& path, const std::string& name, KindConfig& kind) {
    if (name.ends_with('*')) {
      problems_.error(where({path + ".message", path}),
                      fmt::format("{}.message needs the whole name of a kind, without *: messages "
                                  "are counted by it",
                                  path));
      return;
    }
    if (kind.degrade) {
      problems_.error(where({path + ".degrade", path}),
                      fmt::format("{} is a message kind and cannot be a degrade kind too: declare "
                                  "two kinds",
                                  path));
    }
    if (!given(path + ".max-retries")) kind.max_retries = message::Handling().max_retries;
    if (!given(path + ".backoff.strategy")) kind.settings.backoff.strategy = "message";
    const policy::BackoffSettings preset;
    policy::BackoffSettings& backoff = kind.settings.backoff;
    if (!given(path + ".backoff.base")) backoff.base = preset.base;
    if (!given(path + ".backoff.min")) backoff.min = preset.min;
    if (!given(path + ".backoff.max")) backoff.max = preset.max;
    keep(kind, message::Status::kProcessed, config_.messages.keep_processed);
    keep(kind, message::Status::kIgnored, config_.messages.keep_ignored);
  }

  static void keep(KindConfig& kind, message::Status status, Duration how_long) {
    for (const task::State state : message::states_of(status)) {
      kind.retention.try_emplace(state, how_long);
    }
  }

  Config& config_;
  const Where& start_;
  Problems& problems_;
  // Broker, topic, group -> the source's name.
  std::map<std::tuple<std::string, std::string, std::string>, std::string> seen_;
};

}  // namespace

void finish_messages(Config& config, const Where& start, Problems& problems) {
  MessagesFinisher(config, start, problems).run();
}

}  // namespace recourse::app
