// A broker in memory, for tests of whoever uses a Source; the brokers themselves are tested as they
// are (tests/message_broker_test.cc).
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "message/broker.h"

namespace recourse::tests {

using message::Deadline;
using message::Fate;
using message::Message;
using message::Outgoing;
using message::Settlement;
using message::Source;
using message::Ticket;
using message::Verdict;

// What outlives the source.
class TestBroker {
 public:
  void add(const std::string& id, std::string body = "{}") {
    const MutexLock lock(mutex_);
    Message message{.source = "shop", .topic = "orders", .id = id, .body = std::move(body)};
    waiting_.push_back(std::move(message));
    changed_.notify_all();
  }
  void set_down(bool is_down) {
    const MutexLock lock(mutex_);
    is_down_ = is_down;
  }

  struct Books {
    std::vector<std::string> acknowledged;
    std::vector<std::string> given_back;
    std::vector<std::string> published;
    std::size_t waiting = 0;
    std::size_t out = 0;
    std::size_t looked_after = 0;  // receives that asked for nothing
    bool is_closed = false;
  };
  [[nodiscard]] Books books() const {
    const MutexLock lock(mutex_);
    Books books = books_;
    books.waiting = waiting_.size();
    books.out = out_.size();
    return books;
  }

 private:
  friend class TestSource;

  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Message> waiting_ GUARDED_BY(mutex_);
  std::map<std::uint64_t, Message> out_ GUARDED_BY(mutex_);
  std::uint64_t tickets_ GUARDED_BY(mutex_) = 0;
  bool is_down_ GUARDED_BY(mutex_) = false;
  bool is_woken_ GUARDED_BY(mutex_) = false;
  Books books_ GUARDED_BY(mutex_);
};

class TestSource final : public Source {
 public:
  explicit TestSource(std::shared_ptr<TestBroker> broker) : broker_(std::move(broker)) {}

  Result<> connect(Deadline) override { return {}; }

  Result<std::vector<Message>> receive(std::size_t max, Deadline deadline) override {
    TestBroker& broker = *broker_;
    const MutexLock lock(broker.mutex_);
    if (max == 0) ++broker.books_.looked_after;
    while (!broker.is_woken_ && !broker.is_down_ && (max == 0 || broker.waiting_.empty())) {
      if (broker.changed_.wait_until(broker.mutex_, deadline) == std::cv_status::timeout) break;
    }
    if (broker.is_down_) return fail(ErrorCode::kUnavailable, "the broker is down");
    broker.is_woken_ = false;
    std::vector<Message> batch;
    while (batch.size() < max && !broker.waiting_.empty()) {
      Message message = std::move(broker.waiting_.front());
      broker.waiting_.pop_front();
      message.ticket = Ticket(++broker.tickets_);
      broker.out_.emplace(broker.tickets_, message);
      batch.push_back(std::move(message));
    }
    return batch;
  }

  Result<Settlement> settle(std::span<const Verdict> verdicts, Deadline) override {
    TestBroker& broker = *broker_;
    const MutexLock lock(broker.mutex_);
    Settlement settlement;
    for (const Verdict& verdict : verdicts) {
      const auto found = broker.out_.find(verdict.ticket.value);
      if (found == broker.out_.end()) {
        settlement.dropped.push_back(verdict.ticket);
        continue;
      }
      ++settlement.accepted;
      const bool is_done = verdict.fate == Fate::kDone;
      (is_done ? broker.books_.acknowledged : broker.books_.given_back).push_back(found->second.id);
      if (!is_done) broker.waiting_.push_back(std::move(found->second));
      broker.out_.erase(found);
    }
    return settlement;
  }

  Result<> publish(std::span<const Outgoing> messages, Deadline) override {
    const MutexLock lock(broker_->mutex_);
    for (const Outgoing& message : messages) broker_->books_.published.push_back(message.id);
    return {};
  }

  void interrupt() override {
    const MutexLock lock(broker_->mutex_);
    broker_->is_woken_ = true;
    broker_->changed_.notify_all();
  }

  Result<std::size_t> close(Deadline) override {
    const MutexLock lock(broker_->mutex_);
    const std::size_t undecided = broker_->out_.size();
    for (auto& [ticket, message] : broker_->out_) {
      broker_->books_.given_back.push_back(message.id);
      broker_->waiting_.push_back(std::move(message));
    }
    broker_->out_.clear();
    broker_->books_.is_closed = true;
    return undecided;
  }

 private:
  std::shared_ptr<TestBroker> broker_;
};

}  // namespace recourse::tests
