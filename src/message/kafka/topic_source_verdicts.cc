// The way of verdicts to Kafka: offsets to commit, and to read again from.
#include <fmt/format.h>

#include "message/kafka/errors.h"
#include "message/kafka/topic_source.h"

namespace recourse::message::kafka {

Result<Settlement> TopicSource::settle(std::span<const Verdict> verdicts, Deadline deadline) {
  Settlement settlement;
  for (const Verdict& verdict : verdicts) {
    const auto place = out_.take(verdict.ticket);
    if (!place) {
      settlement.dropped.push_back(verdict.ticket);
      continue;
    }
    OffsetLedger& ledger = ledgers_[place->partition];
    verdict.fate == Fate::kDone ? ledger.done(place->offset) : ledger.give_back(place->offset);
    ++settlement.accepted;
  }
  if (!consumer_) return settlement;
  Result<> told = seek_back(deadline);
  if (Result<> committed = commit(deadline); !committed) told = std::move(committed);
  if (!told) return fail(std::move(told).error());
  return settlement;
}

// An offset that could not be committed is part of the next commit; the session goes on.
Result<> TopicSource::commit(Deadline deadline) {
  const Partitions offsets(rd_kafka_topic_partition_list_new(static_cast<int>(ledgers_.size())));
  for (const auto& [partition, ledger] : ledgers_) {
    const auto offset = ledger.to_commit();
    if (!offset) continue;
    rd_kafka_topic_partition_list_add(offsets.get(), settings_.topic.c_str(), partition)->offset =
        *offset;
  }
  if (offsets->cnt == 0) return {};
  // One for each call: an answer that comes too late is not taken for the next one's.
  const Queue answers(rd_kafka_queue_new(consumer_.get()));
  rd_kafka_resp_err_t code =
      rd_kafka_commit_queue(consumer_.get(), offsets.get(), answers.get(), nullptr, nullptr);
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
    const Event answer(rd_kafka_queue_poll(answers.get(), milliseconds_until(deadline)));
    code = answer ? rd_kafka_event_error(answer.get()) : RD_KAFKA_RESP_ERR__TIMED_OUT;
  }
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return fail(
        translate(code, fmt::format("offsets are not committed yet: {}", rd_kafka_err2str(code))));
  }
  for (int i = 0; i < offsets->cnt; ++i) {
    const auto ledger = ledgers_.find(offsets->elems[i].partition);
    if (ledger != ledgers_.end()) ledger->second.committed(offsets->elems[i].offset);
  }
  return {};
}

Result<> TopicSource::seek_back(Deadline deadline) {
  const Partitions places(rd_kafka_topic_partition_list_new(1));
  for (const auto& [partition, ledger] : ledgers_) {
    const auto offset = ledger.to_seek();
    if (!offset) continue;
    rd_kafka_topic_partition_list_add(places.get(), settings_.topic.c_str(), partition)->offset =
        *offset;
  }
  if (places->cnt == 0) return {};
  const int patience = std::max(1, milliseconds_until(deadline));
  const ErrorHandle error(rd_kafka_seek_partitions(consumer_.get(), places.get(), patience));
  if (error)
    return fail(translate(rd_kafka_error_code(error.get()), rd_kafka_error_string(error.get())));
  for (int i = 0; i < places->cnt; ++i) {
    const rd_kafka_topic_partition_t& place = places->elems[i];
    if (place.err != RD_KAFKA_RESP_ERR_NO_ERROR)
      return fail(translate(place.err, rd_kafka_err2str(place.err)));
    ledgers_[place.partition].sought();
  }
  return {};
}

Result<std::size_t> TopicSource::close(Deadline deadline) {
  const std::size_t undecided = out_.clear();
  publisher_.close();
  link_.closed();
  if (!consumer_) return undecided;
  const Result<> committed = commit(deadline);
  // What is not committed is delivered to whoever has the partition next.
  const rd_kafka_resp_err_t code = rd_kafka_consumer_close(consumer_.get());
  drop_session();
  if (!committed) return fail(committed.error());
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return fail(translate(code, rd_kafka_err2str(code)));
  return undecided;
}

}  // namespace recourse::message::kafka
