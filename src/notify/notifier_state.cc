#include "notify/notifier_state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "base/text.h"
#include "base/thread_name.h"

namespace recourse::notify {
namespace {

using Answer = Verdict::Answer;

}  // namespace

class Notifier::State::Told {
 public:
  Told(std::size_t channels, std::vector<Ended> ended)
      : left_(channels), ended_(std::move(ended)) {}

  enum class One : std::uint8_t {
    kSent,
    kNoted,  // by a channel that does not count beside the others
    kFailed,
    kRefused,
  };
  void hear(One one) {
    if (one == One::kSent) delivered_ = true;
    if (one == One::kFailed) failed_ = true;
    if (left_.fetch_sub(1) > 1) return;
    const Fate fate = delivered_ ? Fate::kDelivered : failed_ ? Fate::kFailed : Fate::kDropped;
    for (const Ended& ended : ended_) tell(ended, {fate});
  }

 private:
  std::atomic<std::size_t> left_;
  std::atomic<bool> delivered_ = false;
  std::atomic<bool> failed_ = false;
  const std::vector<Ended> ended_;
};

Notifier::State::State(NotifierSettings settings, NotifierParts parts, Masker masker,
                       const Clock& clock, Log& log)
    : settings_(std::move(settings)),
      channels_(std::move(parts.channels)),
      router_(std::move(parts.router)),
      masker_(std::make_shared<const Masker>(std::move(masker))),
      on_delivery_(std::move(parts.on_delivery)),
      clock_(clock),
      time_(clock),
      log_(log),
      held_(settings_.held_back_max),
      dispatcher_(settings_.dispatch, channels_, clock),
      watch_([this] { watch_held_back(); }) {}

Notifier::State::~State() {
  stop(Duration::zero());
  {
    MutexLock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  watch_.join();
}

Result<> Notifier::State::add_filters(std::vector<std::unique_ptr<Filter>> of_user) {
  Result<QuietHours> quiet = QuietHours::make(settings_.quiet_hours);
  if (!quiet) return fail(std::move(quiet).error());
  MutexLock lock(mutex_);
  filters_.push_back(std::make_unique<AllowFilter>(settings_.allow));
  filters_.push_back(std::make_unique<QuietHours>(*std::move(quiet)));
  std::ranges::move(of_user, std::back_inserter(filters_));
  filters_.push_back(std::make_unique<RateLimit>(settings_.rate_limit));
  return {};
}

std::vector<std::size_t> Notifier::State::channels_for(const Notice& notice) const {
  std::vector<std::string> names;
  try {
    names = router_->route(notice);
  } catch (const std::exception& thrown) {
    log_.error("notification_router_failed", {{"error", one_line(thrown.what(), 200)}});
    names = settings_.router.defaults;
  }
  std::vector<std::size_t> places;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(channels_, name, &Channel::name);
    if (found == channels_.end()) {
      log_.error("notification_channel_unknown", {{"channel", shown(name)}});
      continue;
    }
    const auto place = static_cast<std::size_t>(found - channels_.begin());
    if ((*found)->supports(notice) && std::ranges::find(places, place) == places.end()) {
      places.push_back(place);
    }
  }
  std::ranges::sort(places);
  return places;
}

Verdict Notifier::State::judge(const Notice& notice, Now now, Use use) {
  const auto filters =
      std::span(filters_).first(filters_.size() - (use == Use::kWithoutRateLimit ? 1 : 0));
  for (const auto& filter : filters) {
    try {
      Verdict verdict = filter->judge(notice, now);
      if (verdict.answer != Answer::kPass) return verdict;
    } catch (...) {
      // Rather one too many than none.
    }
  }
  return {};
}

void Notifier::State::fire(Notice notice, Ended& ended) {
  ++fired_;
  bound(notice);
  if (!notice.severity) {
    const auto set = settings_.severities.find(notice.event);
    notice.severity =
        set == settings_.severities.end() ? default_severity(notice.event) : set->second;
  }
  const std::vector<std::size_t> channels = channels_for(notice);
  if (channels.empty()) return tell(std::exchange(ended, nullptr), {Fate::kUnwanted});
  routed_ += channels.size();
  Decision decision = decide(notice, channels, ended);
  if (decision.stopped) {
    count_unsent(notice, channels, DeliveryResult::kFailed, "the notifier stopped");
    return tell(std::exchange(ended, nullptr), {Fate::kDropped});
  }
  if (decision.verdict.answer == Answer::kPass) {
    notice.more += decision.told.count;
    std::vector<Ended> all = std::move(decision.told.ended);
    if (ended) all.push_back(std::exchange(ended, nullptr));
    return dispatch({.notice = std::move(notice), .channels = channels, .ended = std::move(all)});
  }
  count_unsent(notice, channels, DeliveryResult::kSuppressed, decision.verdict.why);
  if (decision.wake) changed_.notify_one();
  if (decision.held) return;
  const bool unwanted = decision.verdict.answer == Answer::kUnwanted;
  tell(std::exchange(ended, nullptr),
       unwanted ? Ending{Fate::kUnwanted} : Ending{Fate::kLater, decision.wait});
}

Notifier::State::Decision Notifier::State::decide(const Notice& notice,
                                                  const std::vector<std::size_t>& channels,
                                                  Ended& ended) {
  const Now at = now();
  const Sort sort{notice.event, notice.kind.value, channels};
  MutexLock lock(mutex_);
  Decision decision{.stopped = stopped_};
  if (decision.stopped) return decision;
  decision.verdict = judge(notice, at, Use::kAllFilters);
  if (decision.verdict.answer == Answer::kPass) decision.told = held_.take(sort);
  if (decision.verdict.answer == Answer::kHoldBack) {
    const TimePoint until = std::max(decision.verdict.until, at.steady + kHeldBackMin);
    decision.wait = until - at.steady;
    decision.held = held_.add(sort, notice, ended, until);
    decision.wake = decision.held && until < watched_until_;
  }
  return decision;
}

void Notifier::State::dispatch(Ready ready) {
  const auto message = std::make_shared<const Outgoing>(std::move(ready.notice), masker_);
  const auto told = std::make_shared<Told>(ready.channels.size(), std::move(ready.ended));
  const auto reaches = [this](std::size_t channel) { return channels_[channel]->reaches_people(); };
  const bool to_people = std::ranges::any_of(ready.channels, reaches);
  for (const std::size_t channel : ready.channels) {
    Letter letter{
        .message = message,
        .channel = channel,
        .ended = [this, message, told, channel, summary = ready.summary,
                  sent = to_people && !reaches(channel) ? Told::One::kNoted
                                                        : Told::One::kSent](const LetterEnd& end) {
          letter_ended(*message, channel, summary, end);
          told->hear(end.sent ? sent : Told::One::kFailed);
        }};
    if (dispatcher_.offer(std::move(letter))) continue;
    letter_ended(*message, channel, ready.summary,
                 {.error = "not tried: too many messages wait already, or the notifier stopped"});
    told->hear(Told::One::kRefused);
  }
}

void Notifier::State::letter_ended(const Outgoing& message, std::size_t channel, bool summary,
                                   const LetterEnd& end) {
  if (end.sent) {
    ++(summary ? summaries_sent_ : sent_);
  } else {
    ++(summary ? summaries_failed_ : failed_);
  }
  const DeliveryResult result = end.sent ? DeliveryResult::kSent : DeliveryResult::kFailed;
  count_for(channel, result, summary);
  const Notice& notice = message.raw();
  Delivery delivery = delivery_of(notice, channel, result);
  delivery.tries = end.tries;
  delivery.error = end.error;
  delivery.more = notice.more;
  delivery.summary = summary;
  if (!end.sent) {
    log_.warning("notification_failed", {{"channel", delivery.channel},
                                         {"notice", delivery.notice},
                                         {"event", std::string(to_string(notice.event))},
                                         {"tries", std::to_string(end.tries)},
                                         {"error", end.error}});
  }
  record(delivery);
}

void Notifier::State::count_unsent(const Notice& notice, std::span<const std::size_t> channels,
                                   DeliveryResult result, const std::string& why) {
  (result == DeliveryResult::kSuppressed ? suppressed_ : failed_) += channels.size();
  for (const std::size_t channel : channels) count_for(channel, result, false);
  if (!on_delivery_) return;
  for (const std::size_t channel : channels) {
    Delivery delivery = delivery_of(notice, channel, result);
    delivery.error = why;
    record(delivery);
  }
}

Delivery Notifier::State::delivery_of(const Notice& notice, std::size_t channel,
                                      DeliveryResult result) const {
  return {.notice = one_line(notice.id, kNameCharactersMax),
          .event = notice.event,
          .severity = severity_of(notice),
          .kind = notice.kind,
          .task = notice.task,
          .tenant = notice.tenant,
          .channel = channels_[channel]->name(),
          .result = result,
          .error = {},
          .at = clock_.now()};
}

void Notifier::State::record(const Delivery& delivery) noexcept {
  try {
    if (on_delivery_) on_delivery_(delivery);
  } catch (...) {
    // Whoever keeps the records has a trouble of their own.
  }
}

Result<> Notifier::State::test(std::string_view channel, const Notice& notice,
                               const std::stop_token& stop) {
  const auto found = std::ranges::find(channels_, channel, &Channel::name);
  if (found == channels_.end()) {
    std::vector<std::string> names;
    for (const auto& one : channels_) names.push_back(one->name());
    return fail(ErrorCode::kNotFound,
                fmt::format("there is no channel {}; there are: {}", shown(channel),
                            names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
  }
  try {
    return (*found)->send(fit_to_send(notice, *masker_), stop);
  } catch (const std::exception& thrown) {
    return fail(ErrorCode::kUnavailable,
                one_line(fmt::format("the channel threw: {}", thrown.what()), 500));
  }
}

void Notifier::State::stop(Duration within) {
  {
    MutexLock lock(mutex_);
    stopped_ = true;
  }
  for (Ready& one : take_all()) send_or_end(std::move(one));
  dispatcher_.stop(within);
}

// Those that grow at the end of a notice are read before those that grow at its beginning.
NotifierCounts Notifier::State::counts() const {
  NotifierCounts counts{.sent = sent_,
                        .failed = failed_,
                        .suppressed = suppressed_,
                        .summaries_sent = summaries_sent_,
                        .summaries_failed = summaries_failed_,
                        .refused = dispatcher_.use().refused};
  counts.routed = routed_;
  counts.fired = fired_;
  counts.out = counts.routed - counts.sent - counts.failed - counts.suppressed;
  return counts;
}

std::vector<std::pair<std::string, policy::BreakerState>> Notifier::State::channels() const {
  std::vector<std::pair<std::string, policy::BreakerState>> all;
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    all.emplace_back(channels_[i]->name(), dispatcher_.breaker_state(i));
  }
  return all;
}

std::vector<ChannelStatus> Notifier::State::statuses() const {
  using enum DeliveryResult;
  std::vector<ChannelStatus> all;
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    const auto count = [](const auto& counts, DeliveryResult result) {
      return counts[static_cast<std::size_t>(result)].load();
    };
    const ChannelTally& tally = tallies_[i];
    all.push_back({.name = channels_[i]->name(),
                   .breaker = dispatcher_.breaker_state(i),
                   .sent = count(tally.notices, kSent),
                   .failed = count(tally.notices, kFailed),
                   .suppressed = count(tally.notices, kSuppressed),
                   .summaries_sent = count(tally.summaries, kSent),
                   .summaries_failed = count(tally.summaries, kFailed)});
  }
  return all;
}

}  // namespace recourse::notify
