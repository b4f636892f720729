// The inside of a notifier that is switched on.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "notify/dispatcher.h"
#include "notify/held_back.h"
#include "notify/notifier.h"

namespace recourse::notify {

class Notifier::State {
 public:
  State(NotifierSettings settings, NotifierParts parts, Masker masker, const Clock& clock,
        Log& log);
  ~State();

  // The built-in ones and those of the user, the rate limit last.
  Result<> add_filters(std::vector<std::unique_ptr<Filter>> of_user);

  void fire(Notice notice, Ended& ended);
  Result<> test(std::string_view channel, const Notice& notice, const std::stop_token& stop);
  void look_at_held_back();
  void stop(Duration within);

  [[nodiscard]] NotifierCounts counts() const;
  [[nodiscard]] std::vector<std::pair<std::string, policy::BreakerState>> channels() const;
  [[nodiscard]] std::vector<ChannelStatus> statuses() const;

 private:
  // One message on all its channels; tells everybody when the last has ended.
  class Told;
  struct Ready {
    Notice notice;
    std::vector<std::size_t> channels;
    std::vector<Ended> ended;
    bool summary = false;
    // Where there are no channels.
    Ending ending = {.fate = Fate::kUnwanted};
  };

  enum class Use : std::uint8_t { kAllFilters, kWithoutRateLimit };
  // A filter that names a moment in the past would be asked again without end.
  static constexpr Duration kHeldBackMin = std::chrono::milliseconds(100);

  struct Decision {
    bool stopped = false;
    Verdict verdict = {};
    // What a message that goes out tells of as well.
    HeldBack::Tally told = {};
    bool held = false;
    // Of what is held back.
    Duration wait = Duration::zero();
    // The thread that watches sleeps too long.
    bool wake = false;
  };

  // What became of the notices of one channel.
  struct ChannelTally {
    std::array<std::atomic<std::uint64_t>, kAllDeliveryResults.size()> notices{};
    std::array<std::atomic<std::uint64_t>, kAllDeliveryResults.size()> summaries{};
  };
  void count_for(std::size_t channel, DeliveryResult result, bool summary) {
    ChannelTally& tally = tallies_[channel];
    ++(summary ? tally.summaries : tally.notices)[static_cast<std::size_t>(result)];
  }

  [[nodiscard]] Now now() const { return {.steady = time_.now(), .wall = clock_.now()}; }
  [[nodiscard]] std::vector<std::size_t> channels_for(const Notice& notice) const;
  Verdict judge(const Notice& notice, Now now, Use use) REQUIRES(mutex_);
  Decision decide(const Notice& notice, const std::vector<std::size_t>& channels, Ended& ended);
  void send_or_end(Ready ready);
  void dispatch(Ready ready);
  void letter_ended(const Outgoing& message, std::size_t channel, bool summary,
                    const LetterEnd& end);
  // None of its channels gets it.
  void count_unsent(const Notice& notice, std::span<const std::size_t> channels,
                    DeliveryResult result, const std::string& why);
  void record(const Delivery& delivery) noexcept;
  [[nodiscard]] Delivery delivery_of(const Notice& notice, std::size_t channel,
                                     DeliveryResult result) const;
  [[nodiscard]] std::vector<Ready> take_due();
  [[nodiscard]] std::vector<Ready> take_all();
  void watch_held_back();

  const NotifierSettings settings_;
  const std::vector<std::shared_ptr<Channel>> channels_;
  const std::unique_ptr<Router> router_;
  const std::shared_ptr<const Masker> masker_;
  const std::function<void(const Delivery&)> on_delivery_;
  const Clock& clock_;
  const SteadyTime time_;
  Log& log_;

  std::atomic<std::uint64_t> fired_ = 0;
  std::atomic<std::uint64_t> routed_ = 0;
  std::atomic<std::uint64_t> sent_ = 0;
  std::atomic<std::uint64_t> failed_ = 0;
  std::atomic<std::uint64_t> suppressed_ = 0;
  std::atomic<std::uint64_t> summaries_sent_ = 0;
  std::atomic<std::uint64_t> summaries_failed_ = 0;
  // By channel.
  std::vector<ChannelTally> tallies_ = std::vector<ChannelTally>(channels_.size());

  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::vector<std::unique_ptr<Filter>> filters_ GUARDED_BY(mutex_);
  HeldBack held_ GUARDED_BY(mutex_);
  // Until when the thread sleeps that sends what is due.
  TimePoint watched_until_ GUARDED_BY(mutex_) = kNever;
  bool stopped_ GUARDED_BY(mutex_) = false;
  bool ending_ GUARDED_BY(mutex_) = false;

  // Its letters call what is above.
  Dispatcher dispatcher_;
  std::thread watch_;
};

}  // namespace recourse::notify
