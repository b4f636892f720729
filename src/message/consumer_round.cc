#include "message/consumer_round.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "message/log_lines.h"
#include "message/ordering.h"
#include "store/limits.h"

namespace recourse::message {
namespace {

using Steady = std::chrono::steady_clock;

// Of the tasks of one write; a body may have a sixteenth of what a batch takes.
constexpr std::size_t kUnmarkedBytesMax = store::kBatchBytesMax / 2;

Duration since(Steady::time_point moment) {
  return std::chrono::duration_cast<Duration>(Steady::now() - moment);
}

Result<> check(const Message& message) {
  if (!message.id.empty() && !message.topic.empty()) return {};
  return fail(ErrorCode::kInvalid, message.topic.empty() ? "message.topic must not be empty"
                                                         : "message.id must not be empty");
}

// Of what goes into a record.
std::size_t bytes_of(const Message& message) {
  std::size_t bytes = message.body.size();
  for (const auto& [name, value] : message.headers) bytes += name.size() + value.size();
  return bytes;
}

}  // namespace

Round::Round(Consumer::Impl& consumer, std::span<const Message> batch, const Run& run,
             const std::stop_token& stop, std::set<std::string>& stuck)
    : consumer_(consumer),
      batch_(batch),
      run_(run),
      stop_(stop),
      answers_(batch.size()),
      stuck_(stuck) {}

Round::~Round() {
  for (const Item& item : items_) {
    if (item.is_taken) consumer_.in_flight.release(item.key);
  }
}

Round::Answers Round::go() {
  prepare();
  if (!look_up()) return std::move(answers_);
  for (std::size_t place = 0; place < items_.size(); ++place) {
    if (items_[place].is_answered) {
      hold_back_behind(place);
      continue;
    }
    if (stop_.stop_requested()) {
      if (flush()) answer_rest({ErrorCode::kUnavailable, "the consumer is about to stop"});
      break;
    }
    handle(place);
    if (unmarked_.empty()) continue;
    // One that is likely to take longer than the rest of the time does not keep marks waiting.
    const bool is_time = since(first_unmarked_) + last_took_ >= consumer_.settings.flush_after ||
                         unmarked_bytes_ >= kUnmarkedBytesMax;
    if (is_time && !flush()) break;
  }
  (void)flush();
  answer_twins();
  consumer_.sweep();
  return std::move(answers_);
}

void Round::prepare() {
  std::optional<KeyMaker> keys;
  // What is taken is referred to: none of them moves from here on.
  items_.reserve(batch_.size());
  for (std::size_t place = 0; place < batch_.size(); ++place) {
    const Message& message = batch_[place];
    const bool is_next = place > 0 && message.topic == batch_[place - 1].topic &&
                         message.source == batch_[place - 1].source;
    if (!is_next) keys.emplace(consumer_.scope_of(message));
    items_.push_back({.message = &message, .key = keys->key_of(message.id), .twin = place});
    Item& item = items_.back();
    if (Result<> valid = check(message); !valid) {
      answer(place, fail(std::move(valid).error()));
      continue;
    }
    if (message.id_origin == IdOrigin::kBodyHash && !consumer_.has_warned.exchange(true)) {
      log_without_id(consumer_.parts.log, message, consumer_.settings.group);
    }
    item.is_taken = consumer_.in_flight.take(item.key);
    if (item.is_taken) continue;
    const auto first = std::ranges::find(items_, item.key, &Item::key);
    item.twin = static_cast<std::size_t>(first - items_.begin());
    answer(place, fail(ErrorCode::kConflict,
                       fmt::format("message {} is being handled right now: it will be known when "
                                   "it is delivered again",
                                   shown(message.id))));
  }
}

bool Round::look_up() {
  std::vector<store::MessageKey> keys;
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < items_.size(); ++place) {
    if (items_[place].is_answered) continue;
    keys.push_back(items_[place].key);
    places.push_back(place);
  }
  if (keys.empty()) return true;
  const auto seen = consumer_.parts.opened.inbox().look_up(keys, consumer_.settings.patience);
  if (!seen) {
    answer_rest(seen.error());
    return false;
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    if ((*seen)[i]) known(places[i], *(*seen)[i]);
  }
  return true;
}

Result<bool> Round::waits(const Item& item) {
  const std::string order = order_of(item);
  if (order.empty() || free_.contains(order)) return false;
  if (blocked_.contains(order)) return true;
  const Result<std::size_t> older =
      count_older(consumer_.parts.opened.reader(), consumer_.settings.handling.kind, order,
                  std::nullopt, consumer_.settings.order, 1, consumer_.settings.patience);
  if (!older) return fail(older.error());
  const bool has_to_wait = *older > 0;
  (has_to_wait ? blocked_ : free_).insert(order);
  return has_to_wait;
}

void Round::handle(std::size_t place) {
  const Item& item = items_[place];
  if (!stuck_.empty() && stuck_.contains(order_of(item))) {
    return refuse(place, {ErrorCode::kUnavailable,
                          "an older message of its key is not recorded yet: it comes first"});
  }
  if (std::optional<Ran> before = recall(item)) {
    return ended(place, *std::move(before));
  }
  const Result<bool> has_to_wait = waits(item);
  if (!has_to_wait) return refuse(place, has_to_wait.error());
  if (*has_to_wait) {
    const TimePoint now = consumer_.parts.store_now();
    return ended(place, {.started_at = now, .ended_at = now, .waits = true});
  }
  if (!item.message->unreadable.empty()) return cannot_read(place);
  if (consumer_.settings.in_transaction) return run_in_transaction(place);
  run_it(place);
}

void Round::cannot_read(std::size_t place) {
  const MessageFailure failure(
      items_[place].message->unreadable,
      {.type = "recourse::Source", .code = std::string(kUndecodable), .retryable = false});
  const TimePoint now = consumer_.parts.store_now();
  ended(place, {.started_at = now,
                .ended_at = now,
                .failed = failed_run(std::make_exception_ptr(failure), {})});
}

void Round::run_it(std::size_t place) {
  const Item& item = items_[place];
  Call call{.message = *item.message,
            .group = consumer_.settings.group,
            .key = item.key,
            .max_retries = consumer_.settings.handling.max_retries,
            .stop = stop_};
  Ran ran;
  const auto begun = Steady::now();
  // Nothing that a handler throws, of whatever type, goes past this.
  try {
    ran.business_id = run_(call);
  } catch (...) {
    ran.failed = failed_run(std::current_exception(), std::move(call.about));
  }
  last_took_ = since(begun);
  if (ran.failed) {
    ran.ended_at = consumer_.parts.store_now();
    ran.started_at = ran.ended_at - last_took_;
  }
  ended(place, std::move(ran));
}

void Round::run_in_transaction(std::size_t place) {
  const Item& item = items_[place];
  Call call{.message = *item.message,
            .group = consumer_.settings.group,
            .key = item.key,
            .max_retries = consumer_.settings.handling.max_retries,
            .stop = stop_};
  Ran ran;
  const auto begun = Steady::now();
  const Result<> committed = consumer_.run_marking(run_, call, item.key, ran);
  last_took_ = since(begun);
  if (committed) return answer(place, Consumption{.business_id = std::move(ran.business_id)});
  if (!ran.failed) {
    // Somebody else was faster, or the reply was lost; else nothing of it is left.
    const auto seen = consumer_.parts.opened.inbox().look_up(std::span(&item.key, 1),
                                                             consumer_.settings.patience);
    if (committed.error().code == ErrorCode::kInDoubt) ran.offered = store::Seen();
    if (seen && seen->front()) {
      const store::Seen& mark = *seen->front();
      if (ran.offered != mark) {
        return answer(place, Consumption{.how = Ending::kSkipped, .record = mark.task});
      }
      return answer(place, Consumption{.business_id = std::move(ran.business_id)});
    }
    if (!seen || !ran.was_called) {
      return refuse(place, {ErrorCode::kUnavailable, committed.error().message});
    }
    // It may never commit, and must not hold up its source. Should it be about to after all, the
    // record's mark waits for that, and finds the message known.
    ran.failed = not_committed(committed.error(), ran, call.about);
  }
  ran.ended_at = consumer_.parts.store_now();
  ran.started_at = ran.ended_at - last_took_;
  ended(place, std::move(ran));
}

void Round::ended(std::size_t place, Ran ran) {
  Item& item = items_[place];
  item.ran = std::move(ran);
  if (unmarked_.empty()) first_unmarked_ = Steady::now();
  unmarked_.push_back(place);
  if (!item.ran.failed && !item.ran.waits) return;
  unmarked_bytes_ += bytes_of(*item.message);
  const std::string order = order_of(item);
  if (order.empty()) return;
  free_.erase(order);
  blocked_.insert(order);
}

void Round::answer(std::size_t place, Result<Consumption> answer) {
  items_[place].is_answered = true;
  answers_[place] = std::move(answer);
}

void Round::tell_refused(const Item& item, const Error& error) {
  if (!consumer_.refusals_told.add(item.key)) return;
  log_not_recorded(consumer_.parts.log, *item.message, consumer_.settings.group, error);
}

void Round::refuse(std::size_t place, Error error) {
  answer(place, fail(std::move(error)));
  hold_back_behind(place);
}

void Round::hold_back_behind(std::size_t place) {
  const Item& item = items_[place];
  // What can never be taken keeps nobody waiting, and a twin is where its first is.
  if (answers_[place] || answers_[place].error().code == ErrorCode::kInvalid) return;
  if (item.twin != place) return;
  if (std::string order = order_of(item); !order.empty()) stuck_.insert(std::move(order));
}

std::string Round::order_of(const Item& item) const {
  if (!consumer_.settings.handling.ordered || item.message->key.empty()) return {};
  return order_key_of(envelope_of(*item.message, consumer_.settings.group));
}

void Round::answer_rest(const Error& error) {
  for (std::size_t place = 0; place < items_.size(); ++place) {
    if (!items_[place].is_answered) answer(place, fail(error));
    hold_back_behind(place);
  }
}

// The same message twice in one batch: what became of the first is true of the second.
void Round::answer_twins() {
  for (std::size_t place = 0; place < items_.size(); ++place) {
    const std::size_t first = items_[place].twin;
    if (first == place || items_[place].is_taken || !items_[first].is_taken) continue;
    if (!answers_[first]) continue;
    answers_[place] = Consumption{.how = Ending::kSkipped, .record = answers_[first]->record};
  }
}

}  // namespace recourse::message
