// Source over librdkafka's consumer: see source.h.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "message/kafka/handles.h"
#include "message/kafka/offset_ledger.h"
#include "message/kafka/publisher.h"
#include "message/link.h"
#include "message/outstanding.h"

namespace recourse::message::kafka {

class TopicSource final : public Source {
 public:
  TopicSource(SourceSettings settings, Address address, Log& log);
  ~TopicSource() override;
  TopicSource(const TopicSource&) = delete;
  TopicSource& operator=(const TopicSource&) = delete;

  Result<> connect(Deadline deadline) override;
  Result<std::vector<Message>> receive(std::size_t max, Deadline deadline) override;
  Result<Settlement> settle(std::span<const Verdict> verdicts, Deadline deadline) override;
  Result<> publish(std::span<const Outgoing> messages, Deadline deadline) override;
  void interrupt() override EXCLUDES(mutex_);
  Result<std::size_t> close(Deadline deadline) override;

 private:
  using Partition = std::int32_t;
  struct Place {
    Partition partition;
    Offset offset;
  };

  Result<> open_session(Deadline deadline) EXCLUDES(mutex_);
  Result<> find_topic(rd_kafka_t* consumer, Deadline deadline);
  void drop_session() EXCLUDES(mutex_);
  Error lose_session(const Error& why);

  // Called by the library, within our own calls to it.
  static void on_error(rd_kafka_t* consumer, int code, const char* words, void* self);
  static void on_rebalance(rd_kafka_t* consumer, rd_kafka_resp_err_t code,
                           rd_kafka_topic_partition_list_t* partitions, void* self);
  void revoke(const rd_kafka_topic_partition_list_t& partitions);

  // One record, or nothing. An error ends the session.
  Result<> poll(Deadline deadline, std::vector<Message>& batch);
  void take(const rd_kafka_message_t& record, std::vector<Message>& batch);
  // As many as may be are out: the library must be called all the same, and may not deliver.
  Result<> wait_for_room(Deadline deadline, std::vector<Message>& batch);
  void pause_all();
  void resume_all();

  Result<> commit(Deadline deadline);
  Result<> seek_back(Deadline deadline);

  const SourceSettings settings_;
  const Address address_;
  Link link_;
  Publisher publisher_;
  Outstanding<Place> out_;
  std::map<Partition, OffsetLedger> ledgers_;
  // What the library complained of, until it is told.
  std::optional<Error> trouble_;
  Deadline last_poll_{};
  bool is_paused_ = false;
  Mutex mutex_;
  Queue woken_by_ GUARDED_BY(mutex_);  // goes before the consumer whose queue it is
  Client consumer_;
};

}  // namespace recourse::message::kafka
