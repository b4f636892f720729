// A store, an engine and a feeder between a broker and a handler, as the server puts them together.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/invariant.h"
#include "base/log.h"
#include "base/ulid_source.h"
#include "engine/node.h"
#include "message/feeder.h"
#include "message/hand_over.h"
#include "policy/failure_router.h"
#include "store/opened.h"

namespace recourse::tests {

using namespace std::chrono_literals;

inline const task::Kind kOrders("orders");

// Retries after 50, 100, 200, 400 and 800 ms.
inline engine::KindRules message_rules() {
  engine::KindRules rules;
  rules.settings.concurrency = 16;
  rules.settings.breaker_enabled = false;
  rules.settings.backoff = {.strategy = "message", .base = 50ms, .min = 10ms, .max = 5s};
  rules.router = policy::message_router();
  return rules;
}

inline message::HandOverSettings message_settings() {
  return {.group = "billing", .handling = {.kind = kOrders}};
}

class MessageDoor {
 public:
  using Work = std::function<engine::AttemptResult(const task::Task&)>;

  MessageDoor(std::unique_ptr<store::OpenedStore> opened, Log& log)
      : log_(log), opened_(std::move(opened)) {
    engine::NodeSettings settings;
    settings.lease = {.ttl = 2s, .renew_ahead = 500ms};
    settings.scan = {.initial_delay = 10ms, .period = 200ms};
    settings.exclusive_store = true;
    node_ = std::make_unique<engine::Node>(*opened_, clock_, log_, settings, 7);
  }

  static engine::Handler handler_of(Work work) {
    return [work = std::move(work)](const std::shared_ptr<engine::AttemptRun>& run) {
      run->complete(work(run->task()));
    };
  }
  void handle(engine::Handler handler) {
    must(node_->handle(kOrders.value, message_rules(), std::move(handler)));
    must(node_->start());
  }
  // As the door has it: for tests that do something to it.
  message::Deal deal(message::HandOverSettings settings = message_settings()) {
    return message::hand_over(std::move(settings),
                              {.inbox = opened_->inbox(),
                               .ids = ids_,
                               .refusals = refusals_,
                               .log = log_,
                               .store_now = [this] { return node_->store_now(); },
                               .hint = [this] { node_->hint_work(); }});
  }
  message::Feeder& feed(std::unique_ptr<message::Source> source, message::Deal deal,
                        message::FeederSettings settings = {}) {
    feeder_ = std::make_unique<message::Feeder>("shop", std::move(source), std::move(settings),
                                                std::move(deal), log_);
    feeder_->start();
    return *feeder_;
  }
  void stop() {
    if (feeder_) feeder_->stop(5s);
    (void)node_->stop(5s);
  }

  [[nodiscard]] store::OpenedStore& opened() { return *opened_; }
  [[nodiscard]] message::Feeder& feeder() { return *feeder_; }
  [[nodiscard]] engine::Node& node() { return *node_; }

 private:
  static void must(const Result<>& result) {
    invariant(result.has_value(), result ? "" : std::string_view(result.error().message));
  }

  Log& log_;
  const SystemClock clock_;
  UlidSource ids_{clock_,
                  static_cast<std::uint64_t>(clock_.since_boot().time_since_epoch().count())};
  message::Refusals refusals_;
  std::unique_ptr<store::OpenedStore> opened_;
  std::unique_ptr<engine::Node> node_;
  std::unique_ptr<message::Feeder> feeder_;
};

}  // namespace recourse::tests
