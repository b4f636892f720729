#include "message/kafka/topic_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "message/kafka/configuration.h"
#include "message/kafka/errors.h"
#include "message/kafka/records.h"
#include "message/kafka/source.h"

namespace recourse::message::kafka {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr auto kPollMax = milliseconds(200);
// For so long the library can be left alone, when there is no room for what it has.
constexpr auto kUnpolledMax = milliseconds(500);

}  // namespace

Result<std::unique_ptr<Source>> open(const SourceSettings& settings, Log& log) {
  if (Result<> valid = validate(settings); !valid) return fail(std::move(valid).error());
  Result<Address> address = parse_address(settings.url);
  if (!address) return fail(std::move(address).error());
  if (address->broker != BrokerKind::kKafka) {
    return fail(ErrorCode::kInvalid, "source.url must begin with kafka:// or kafkas:// for Kafka");
  }
  return std::unique_ptr<Source>(std::make_unique<TopicSource>(settings, *std::move(address), log));
}

TopicSource::TopicSource(SourceSettings settings, Address address, Log& log)
    : settings_(std::move(settings)),
      address_(std::move(address)),
      link_(settings_, where(address_), log),
      publisher_(settings_, address_) {}

TopicSource::~TopicSource() { drop_session(); }

Result<> TopicSource::connect(Deadline deadline) {
  return link_.ensure([this](Deadline until) { return open_session(until); }, deadline);
}

Result<> TopicSource::open_session(Deadline deadline) {
  Result<Configuration> configuration = consumer_configuration(settings_, address_);
  if (!configuration) return fail(std::move(configuration).error());
  rd_kafka_conf_set_opaque(configuration->get(), this);
  rd_kafka_conf_set_error_cb(configuration->get(), &TopicSource::on_error);
  rd_kafka_conf_set_rebalance_cb(configuration->get(), &TopicSource::on_rebalance);
  Result<Client> consumer = make_client(RD_KAFKA_CONSUMER, *std::move(configuration));
  if (!consumer) return fail(std::move(consumer).error());
  rd_kafka_poll_set_consumer(consumer->get());
  trouble_.reset();
  if (Result<> found = find_topic(consumer->get(), deadline); !found) return found;
  const Partitions topics(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(topics.get(), settings_.topic.c_str(), RD_KAFKA_PARTITION_UA);
  const rd_kafka_resp_err_t code = rd_kafka_subscribe(consumer->get(), topics.get());
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return fail(translate(code, rd_kafka_err2str(code)));
  consumer_ = *std::move(consumer);
  const MutexLock lock(mutex_);
  woken_by_.reset(rd_kafka_queue_get_consumer(consumer_.get()));
  return {};
}

// A consumer that finds nobody, or no such topic, would wait for ever and say nothing.
Result<> TopicSource::find_topic(rd_kafka_t* consumer, Deadline deadline) {
  rd_kafka_topic_t* topic = rd_kafka_topic_new(consumer, settings_.topic.c_str(), nullptr);
  const rd_kafka_metadata_t* raw = nullptr;
  const rd_kafka_resp_err_t code =
      rd_kafka_metadata(consumer, 0, topic, &raw, std::max(1, milliseconds_until(deadline)));
  rd_kafka_topic_destroy(topic);
  const Metadata metadata(raw);
  // What the library complained of meanwhile says more than that it got no answer.
  const Record none(rd_kafka_consumer_poll(consumer, 0));
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    if (trouble_ && trouble_->code != ErrorCode::kUnavailable) return fail(*trouble_);
    return fail(ErrorCode::kUnavailable,
                fmt::format("Kafka did not answer at {}: {}; is it running there?", where(address_),
                            rd_kafka_err2str(code)));
  }
  for (int i = 0; i < metadata->topic_cnt; ++i) {
    const rd_kafka_resp_err_t of_topic = metadata->topics[i].err;
    if (of_topic == RD_KAFKA_RESP_ERR_NO_ERROR ||
        of_topic == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE)
      continue;
    return fail(translate(
        of_topic, fmt::format("topic '{}': {}", settings_.topic, rd_kafka_err2str(of_topic))));
  }
  return {};
}

void TopicSource::drop_session() {
  {
    const MutexLock lock(mutex_);
    woken_by_.reset();
  }
  consumer_.reset();
  ledgers_.clear();
  is_paused_ = false;
}

Error TopicSource::lose_session(const Error& why) {
  drop_session();
  return link_.lost(why, out_.clear());
}

void TopicSource::on_error(rd_kafka_t*, int code, const char* words, void* self) {
  auto& trouble = static_cast<TopicSource*>(self)->trouble_;
  Error error = translate(static_cast<rd_kafka_resp_err_t>(code), words);
  // That no broker is there any more follows from what is wrong, and says less.
  if (!trouble || error.code != ErrorCode::kUnavailable) trouble = std::move(error);
}

void TopicSource::on_rebalance(rd_kafka_t* consumer, rd_kafka_resp_err_t code,
                               rd_kafka_topic_partition_list_t* partitions, void* self) {
  auto& source = *static_cast<TopicSource*>(self);
  source.is_paused_ = false;
  if (code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
    rd_kafka_assign(consumer, partitions);
    return;
  }
  source.revoke(*partitions);
  rd_kafka_assign(consumer, nullptr);
}

void TopicSource::revoke(const rd_kafka_topic_partition_list_t& partitions) {
  std::size_t undecided = 0;
  for (int i = 0; i < partitions.cnt; ++i) {
    const Partition partition = partitions.elems[i].partition;
    undecided += out_.erase_if([&](const Place& place) { return place.partition == partition; });
    ledgers_.erase(partition);
  }
  link_.log().info("partitions_revoked", {{"source", settings_.name},
                                          {"partitions", std::to_string(partitions.cnt)},
                                          {"undecided", std::to_string(undecided)}});
}

void TopicSource::interrupt() {
  link_.wakeup().wake();
  const MutexLock lock(mutex_);
  if (woken_by_) rd_kafka_queue_yield(woken_by_.get());
}

Result<std::vector<Message>> TopicSource::receive(std::size_t max, Deadline deadline) {
  std::vector<Message> batch;
  if (link_.wakeup().woken()) return batch;
  Result<> going = connect(deadline);
  if (!going)
    return link_.wakeup().woken() ? Result<std::vector<Message>>(batch) : fail(going.error());
  for (;;) {
    const bool has_room = max > 0 && out_.size() < settings_.prefetch;
    if (has_room) resume_all();
    const Deadline until =
        batch.empty() ? std::min(deadline, steady_clock::now() + kPollMax) : Deadline();
    const std::size_t before = batch.size();
    going = has_room ? poll(until, batch) : wait_for_room(until, batch);
    if (!going) return fail(lose_session(going.error()));
    if (link_.wakeup().woken() || batch.size() >= max) return batch;
    if (!batch.empty() && (batch.size() == before || out_.size() >= settings_.prefetch))
      return batch;
    if (!batch.empty() || steady_clock::now() < deadline) continue;
    if (!trouble_) return batch;
    // Told once; the library goes on trying.
    const Error told = *std::exchange(trouble_, std::nullopt);
    return fail(told);
  }
}

Result<> TopicSource::poll(Deadline deadline, std::vector<Message>& batch) {
  last_poll_ = steady_clock::now();
  const Record record(rd_kafka_consumer_poll(consumer_.get(), milliseconds_until(deadline)));
  if (!record) return {};
  if (record->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    trouble_.reset();
    take(*record, batch);
    return {};
  }
  if (record->err == RD_KAFKA_RESP_ERR__FATAL ||
      record->err == RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED) {
    return fail(ErrorCode::kUnavailable, rd_kafka_message_errstr(record.get()));
  }
  trouble_ = translate(record->err, rd_kafka_message_errstr(record.get()));
  return {};
}

void TopicSource::take(const rd_kafka_message_t& record, std::vector<Message>& batch) {
  const OffsetLedger::Delivery delivery = ledgers_[record.partition].deliver(record.offset);
  if (delivery == OffsetLedger::Delivery::kSkip) return;
  Message message = message_of(record);
  message.source = settings_.name;
  message.redelivered = delivery == OffsetLedger::Delivery::kAgain;
  message.ticket = out_.add({record.partition, record.offset});
  batch.push_back(std::move(message));
}

// Pausing throws away what the library has read ahead, so it is left alone for a moment first.
Result<> TopicSource::wait_for_room(Deadline deadline, std::vector<Message>& batch) {
  const Deadline alone = last_poll_ + kUnpolledMax;
  if (steady_clock::now() < alone) {
    (void)link_.wakeup().wait(-1, std::min(deadline, alone));
    return {};
  }
  pause_all();
  return poll(deadline, batch);
}

void TopicSource::pause_all() {
  rd_kafka_topic_partition_list_t* raw = nullptr;
  if (is_paused_ || rd_kafka_assignment(consumer_.get(), &raw) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return;
  const Partitions assigned(raw);
  (void)rd_kafka_pause_partitions(consumer_.get(), assigned.get());
  is_paused_ = true;
}

void TopicSource::resume_all() {
  rd_kafka_topic_partition_list_t* raw = nullptr;
  if (!is_paused_ || rd_kafka_assignment(consumer_.get(), &raw) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return;
  const Partitions assigned(raw);
  (void)rd_kafka_resume_partitions(consumer_.get(), assigned.get());
  is_paused_ = false;
}

Result<> TopicSource::publish(std::span<const Outgoing> messages, Deadline deadline) {
  return publisher_.publish(messages, deadline);
}

}  // namespace recourse::message::kafka
