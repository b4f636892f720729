// A notifier with channels of the test's, on a clock that is moved by hand.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "base/manual_clock.h"
#include "notify/fake_channel.h"
#include "notify/notifier.h"

namespace recourse::notify {

using namespace std::chrono_literals;

class NotifierTest : public testing::Test {
 protected:
  std::shared_ptr<FakeChannel> add(std::string name, FakeChannel::Script script = nullptr) {
    auto channel = std::make_shared<FakeChannel>(std::move(name), std::move(script));
    parts_.channels.push_back(channel);
    return channel;
  }
  void start(NotifierSettings settings = {}) {
    parts_.on_delivery = [this](const Delivery& delivery) { deliveries_.add(delivery); };
    notifier_ = Notifier::make(std::move(settings), std::move(parts_), clock_, log_).value();
  }
  void fire(std::string id, std::string kind = "pay", Event event = Event::kDeadLetter) {
    notifier_->fire(from(std::move(id), std::move(kind), event),
                    [this](const Ending& end) { fates_.add(end.fate); });
  }
  static Notice from(std::string id, std::string kind, Event event) {
    return {.id = std::move(id), .event = event, .kind = task::Kind(std::move(kind))};
  }
  void pass(Duration time) {
    clock_.advance(time);
    notifier_->look_at_held_back();
  }
  void expect_the_counts_to_add_up() const {
    const NotifierCounts counts = notifier_->counts();
    EXPECT_EQ(counts.routed, counts.sent + counts.failed + counts.suppressed + counts.out);
    NotifierCounts sum;
    for (const ChannelStatus& channel : notifier_->statuses()) {
      sum.sent += channel.sent;
      sum.failed += channel.failed;
      sum.suppressed += channel.suppressed;
      sum.summaries_sent += channel.summaries_sent;
      sum.summaries_failed += channel.summaries_failed;
    }
    EXPECT_EQ(sum.sent, counts.sent) << "over all channels";
    EXPECT_EQ(sum.failed, counts.failed);
    EXPECT_EQ(sum.suppressed, counts.suppressed);
    EXPECT_EQ(sum.summaries_sent, counts.summaries_sent);
    EXPECT_EQ(sum.summaries_failed, counts.summaries_failed);
  }

  ManualClock clock_{TimePoint(1'700'000'000s)};
  MemoryLog log_;
  Happened<Fate> fates_;
  Happened<Delivery> deliveries_;
  NotifierParts parts_;
  std::unique_ptr<Notifier> notifier_;
};

}  // namespace recourse::notify
