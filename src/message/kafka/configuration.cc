#include "message/kafka/configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/process_name.h"

namespace recourse::message::kafka {
namespace {

using std::chrono::milliseconds;

using Properties = std::vector<std::pair<const char*, std::string>>;

std::string ms(Duration duration) { return std::to_string(duration / milliseconds(1)); }

Properties common(const SourceSettings& settings, const Address& address) {
  Properties all{
      {"bootstrap.servers", where(address)},
      {"client.id", settings.consumer.empty() ? process_name() : settings.consumer},
      {"reconnect.backoff.ms", ms(settings.reconnect_min)},
      {"reconnect.backoff.max.ms", ms(std::max(settings.reconnect_min, settings.reconnect_max))},
      // Its own words go nowhere: what matters comes back as an error.
      {"log_level", "0"},
      {"allow.auto.create.topics", "false"},
  };
  const bool has_user = !address.user.empty();
  const std::string protocol = has_user ? (address.tls ? "sasl_ssl" : "sasl_plaintext")
                                        : (address.tls ? "ssl" : "plaintext");
  all.emplace_back("security.protocol", protocol);
  if (has_user) {
    all.emplace_back("sasl.mechanisms", settings.kafka.sasl_mechanism);
    all.emplace_back("sasl.username", address.user);
    all.emplace_back("sasl.password", address.password);
  }
  if (address.tls && !settings.tls_ca.empty()) all.emplace_back("ssl.ca.location", settings.tls_ca);
  return all;
}

Result<Configuration> configured(const Properties& properties) {
  Configuration configuration(rd_kafka_conf_new());
  std::array<char, 512> why{};
  for (const auto& [name, value] : properties) {
    const auto set =
        rd_kafka_conf_set(configuration.get(), name, value.c_str(), why.data(), why.size());
    if (set == RD_KAFKA_CONF_OK) continue;
    // Its words may repeat the value, which may be a password.
    return fail(
        ErrorCode::kInvalid,
        fmt::format("librdkafka does not take what the settings make of its property {}", name));
  }
  return configuration;
}

}  // namespace

Result<Configuration> consumer_configuration(const SourceSettings& settings,
                                             const Address& address) {
  Properties properties = common(settings, address);
  const bool is_earliest = settings.kafka.start == OffsetStart::kEarliest;
  const Duration poll_max = std::max<Duration>(std::chrono::minutes(5), settings.heartbeat);
  properties.insert(
      properties.end(),
      {{"group.id", settings.group},
       // Nothing is committed but what has been decided.
       {"enable.auto.commit", "false"},
       {"enable.auto.offset.store", "false"},
       {"auto.offset.reset", is_earliest ? "earliest" : "latest"},
       {"session.timeout.ms", ms(settings.heartbeat)},
       {"heartbeat.interval.ms",
        ms(std::min<Duration>(settings.heartbeat / 3, std::chrono::seconds(3)))},
       {"max.poll.interval.ms", ms(poll_max)},
       // What it reads ahead, in messages and KiB.
       {"queued.min.messages", std::to_string(std::max<std::size_t>(1'000, 2 * settings.prefetch))},
       {"queued.max.messages.kbytes", "16384"}});
  return configured(properties);
}

Result<Configuration> producer_configuration(const SourceSettings& settings,
                                             const Address& address) {
  Properties properties = common(settings, address);
  properties.insert(properties.end(), {{"acks", "all"},
                                       {"enable.idempotence", "true"},
                                       // The limit is the topic's, not ours.
                                       {"message.max.bytes", "67108864"},
                                       // As Java's clients do, so that a key keeps its partition.
                                       {"partitioner", "murmur2_random"}});
  return configured(properties);
}

Result<Client> make_client(rd_kafka_type_t type, Configuration configuration) {
  std::array<char, 512> why{};
  Client client(rd_kafka_new(type, configuration.get(), why.data(), why.size()));
  if (!client) {
    return fail(ErrorCode::kInvalid,
                fmt::format("librdkafka does not take the settings: {}", why.data()));
  }
  // It is the client's now.
  (void)configuration.release();
  return client;
}

}  // namespace recourse::message::kafka
