// Handling messages on the consumer's own thread, over a store in memory that can be taken away.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/manual_clock.h"
#include "message/consumer.h"
#include "message/failed_run.h"
#include "store/memory/memory_store.h"

namespace recourse::message {

using namespace std::chrono_literals;

inline const TimePoint kStart = TimePoint(std::chrono::hours(24 * 365 * 50));

// A store whose inbox can be taken away.
class ShakyInbox final : public store::Inbox {
 public:
  explicit ShakyInbox(store::Inbox& under) : under_(under) {}

  Result<std::vector<std::optional<store::Seen>>> look_up(std::span<const store::MessageKey> keys,
                                                          Duration within) override {
    if (is_down) return fail(ErrorCode::kUnavailable, "the store is away");
    if (sees_late) return std::vector<std::optional<store::Seen>>(keys.size());
    return under_.look_up(keys, within);
  }
  Result<std::vector<store::Marked>> mark(std::span<const store::Dealt> batch,
                                          Duration within) override {
    ++marks;
    if (is_down || refuses_marks) return fail(ErrorCode::kUnavailable, "the store is away");
    const std::optional<ErrorCode> refused = refuse ? refuse(batch) : std::nullopt;
    if (refused) return fail(*refused, "the store does not take these");
    auto marked = under_.mark(batch, within);
    if (loses_replies) return fail(ErrorCode::kInDoubt, "the reply to a commit was lost");
    return marked;
  }
  Result<std::size_t> forget(std::span<const store::MessageKey> keys, Duration within) override {
    return under_.forget(keys, within);
  }
  Result<std::size_t> sweep(std::size_t limit, Duration within) override {
    ++sweeps;
    return under_.sweep(limit, within);
  }

  bool is_down = false;
  bool refuses_marks = false;
  // What is marked is there, and nobody hears of it.
  bool loses_replies = false;
  // A look does not see what is about to be committed.
  bool sees_late = false;
  std::function<std::optional<ErrorCode>(std::span<const store::Dealt>)> refuse;
  int marks = 0;
  int sweeps = 0;

 private:
  store::Inbox& under_;
};

// Of whoever writes with the mark: it has no database, and lets the work do what it does.
class IdleGuest final : public store::Guest {
 public:
  Result<std::int64_t> execute(std::string_view, const SqlValues&) override { return 1; }
  Result<std::vector<SqlRow>> query(std::string_view, const SqlValues&) override {
    return std::vector<SqlRow>();
  }
  Result<store::InsertAnswer> submit(std::span<const store::Submission>) override {
    return fail(ErrorCode::kInvalid, "not here");
  }
  Result<> mark_created(const store::CreateHold&, std::string_view, store::Mark) override {
    return fail(ErrorCode::kInvalid, "not here");
  }
};

// Transactions that do not commit, or of which nobody hears.
class StubbornCreates final : public store::Creates {
  static Unexpected no() { return fail(ErrorCode::kUnavailable, "the store is away"); }

 public:
  Result<store::Acquired> acquire(const store::CreateAsk&, Duration) override { return no(); }
  Result<bool> succeed(const store::CreateHold&, std::string_view, Duration) override {
    return no();
  }
  Result<bool> give_up(const store::CreateHold&, std::string_view, Duration) override {
    return no();
  }
  Result<std::optional<store::Creation>> find(const store::CreateKey&, Duration) override {
    return no();
  }
  Result<std::size_t> sweep(std::size_t, Duration) override { return no(); }
  Result<> transact(Duration, FunctionRef<Result<>(store::Guest&)> work) override {
    if (is_down) return no();
    IdleGuest guest;
    if (Result<> worked = work(guest); !worked) return worked;
    if (commits_late) return fail(ErrorCode::kInDoubt, "the reply to a commit was lost");
    return fail(ErrorCode::kInvalid, "violates a deferred constraint");
  }
  Result<store::Acquired> create(const store::CreateAsk&, Duration, store::CreateWork) override {
    return no();
  }
  Result<store::Acquired> create_alone(const store::CreateAsk&, Duration,
                                       store::CreateWork) override {
    return no();
  }
  Result<store::Acquired> create_within(store::Guest&, const store::CreateAsk&, Duration,
                                        store::CreateWork) override {
    return no();
  }

  bool is_down = false;
  bool commits_late = false;
};

class ShakyStore final : public store::OpenedStore {
 public:
  explicit ShakyStore(const Clock& clock)
      : under_(store::memory::open(store::memory::make_data(), clock)), shaky(under_->inbox()) {}
  store::Store& store() override { return under_->store(); }
  store::Reader& reader() override { return under_->reader(); }
  store::Records& records() override { return under_->records(); }
  store::Cases& cases() override { return under_->cases(); }
  store::Creates& creates() override { return stubborn; }
  store::Inbox& inbox() override { return shaky; }

 private:
  std::unique_ptr<store::OpenedStore> under_;

 public:
  ShakyInbox shaky;
  StubbornCreates stubborn;
};

inline Message message(std::string id, std::string body = "{}", std::string key = "") {
  Message made;
  made.source = "shop";
  made.topic = "orders";
  made.id = std::move(id);
  made.key = std::move(key);
  made.body = std::move(body);
  return made;
}

class MessageConsumer : public ::testing::Test {
 protected:
  MessageConsumer() {
    rules_.settings.backoff = {.strategy = "message", .base = 1s, .min = 0s, .max = 1h};
    rules_.router = router_of(nullptr);
    settings_.group = "billing";
    settings_.handling.kind = task::Kind("billing");
  }

  Consumer make() {
    return {settings_,
            {.opened = store_,
             .rules = rules_,
             .ids = ids_,
             .log = log_,
             .store_now = [this] { return clock_.now(); },
             .node = [] { return task::Incarnation(); },
             .hint = [this](Duration in) { hints_.push_back(in); },
             .escalated = [this] { ++escalations_; }},
            [this](Call& call) { return handle(call); }};
  }

  std::string handle(Call& call) {
    ++runs_;
    if (during_) during_(call);
    return "order " + call.message.id;
  }

  static std::vector<Ending> endings(const std::vector<Result<Consumption>>& answers) {
    std::vector<Ending> all;
    for (const auto& answer : answers) {
      EXPECT_TRUE(answer) << (answer ? "" : answer.error().message);
      if (answer) all.push_back(answer->how);
    }
    return all;
  }
  task::Task task_of(const Result<Consumption>& answer) {
    return store_.reader().find(answer->record.value(), 1s).value();
  }

  ManualClock clock_{kStart};
  ShakyStore store_{clock_};
  UlidSource ids_{clock_, 1};
  MemoryLog log_;
  engine::KindRules rules_;
  ConsumerSettings settings_;
  std::vector<Duration> hints_;
  std::atomic<int> escalations_ = 0;
  std::atomic<int> runs_ = 0;
  std::function<void(Call&)> during_;
};

}  // namespace recourse::message
