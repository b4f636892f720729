// The marks of a consumer's batch: written, remembered, and what is told of each.
#include <algorithm>
#include <utility>

#include "message/consumer_round.h"
#include "message/first_attempt.h"
#include "message/log_lines.h"
#include "message/replay.h"

namespace recourse::message {
namespace {

store::Seen offer_of(const store::Dealt& dealt) {
  return {.task = dealt.task ? std::optional(dealt.task->id) : std::nullopt};
}

std::string text_of(const FailedRun& failed) { return policy::describe(failed.failure).message; }

}  // namespace

std::optional<Ran> Round::recall(const Item& item) {
  return consumer_.in_flight.recall(item.key, replays_of(item.message->headers),
                                    consumer_.settings.handling.keep_done_for);
}

void Round::known(std::size_t place, const store::Seen& seen) {
  Item& item = items_[place];
  const Consumption skipped{.how = Ending::kSkipped, .record = seen.task};
  std::optional<Ran> before = recall(item);
  if (!before) return answer(place, skipped);
  // It was run here, and could not be marked; perhaps it was after all, and only the reply is
  // missing. Then nobody was told of it yet.
  item.ran = *std::move(before);
  const auto dealt =
      consumer_.dealt_of(*item.message, item.key, item.ran, seen.task.value_or(task::TaskId()));
  if (!dealt) return answer(place, skipped);
  settle(place, *dealt, {.is_new = false, .seen = seen});
}

bool Round::flush() {
  if (unmarked_.empty()) return true;
  std::vector<std::size_t> places = std::exchange(unmarked_, {});
  unmarked_bytes_ = 0;
  std::vector<store::Dealt> dealt;
  dealt.reserve(places.size());
  std::erase_if(places, [&](std::size_t place) {
    const Item& item = items_[place];
    auto made = consumer_.dealt_of(*item.message, item.key, item.ran,
                                   task::TaskId(consumer_.parts.ids.next()));
    if (made) {
      dealt.push_back(*std::move(made));
      return false;
    }
    tell_refused(item, made.error());
    refuse(place, std::move(made).error());
    return true;
  });
  if (places.empty()) return true;
  const auto marked = consumer_.parts.opened.inbox().mark(dealt, consumer_.settings.patience);
  if (marked) {
    for (std::size_t i = 0; i < places.size(); ++i) settle(places[i], dealt[i], (*marked)[i]);
    return true;
  }
  if (marked.error().code == ErrorCode::kInvalid) return mark_each(dealt, places);
  put_off(dealt, places, marked.error());
  return false;
}

// A single one that the store refuses must not keep all others from being marked.
bool Round::mark_each(std::span<const store::Dealt> dealt, std::span<const std::size_t> places) {
  store::Inbox& inbox = consumer_.parts.opened.inbox();
  for (std::size_t i = 0; i < dealt.size(); ++i) {
    auto one = inbox.mark(dealt.subspan(i, 1), consumer_.settings.patience);
    if (one) {
      settle(places[i], dealt[i], one->front());
      continue;
    }
    if (one.error().code != ErrorCode::kInvalid) {
      put_off(dealt.subspan(i, 1), places.subspan(i), one.error());
      return false;
    }
    tell_refused(items_[places[i]], one.error());
    refuse(places[i], std::move(one).error());
  }
  return true;
}

void Round::put_off(std::span<const store::Dealt> asked, std::span<const std::size_t> places,
                    const Error& error) {
  // Their COMMIT was sent: so an earlier one, whose marks it would have found, came to nothing.
  if (error.code == ErrorCode::kInDoubt) {
    for (std::size_t i = 0; i < asked.size(); ++i) {
      items_[places[i]].ran.offered = offer_of(asked[i]);
    }
  }
  for (const std::size_t place : places) {
    Item& item = items_[place];
    item.ran.replays = replays_of(item.message->headers);
    consumer_.in_flight.remember(item.key, std::move(item.ran));
    refuse(place, error);
  }
  // The rest is not begun: the store would not take it either.
  answer_rest(error);
}

void Round::settle(std::size_t place, const store::Dealt& dealt, const store::Marked& marked) {
  Item& item = items_[place];
  const Message& message = *item.message;
  const bool is_own = marked.is_new || item.ran.offered == marked.seen;
  if (!is_own) {
    if (!item.ran.waits) log_handled_twice(consumer_.parts.log, message, consumer_.settings.group);
    return answer(place, Consumption{.how = Ending::kSkipped, .record = marked.seen.task});
  }
  if (!marked.seen.task) {
    return answer(place, Consumption{.business_id = std::move(item.ran.business_id)});
  }
  const task::Transition& change = dealt.tried->transition;
  Consumption recorded{.how = Ending::kRecorded,
                       .business_id = item.ran.failed ? item.ran.failed->business_id : "",
                       .record = marked.seen.task,
                       .status = status_of(change.to),
                       .error = {}};
  if (item.ran.failed) {
    recorded.error = text_of(*item.ran.failed);
    engine::Moved moved =
        moved_of(*dealt.task, *dealt.tried, policy::Category::kUnknown, std::nullopt);
    moved.task = *marked.seen.task;
    log_consume_failed(consumer_.parts.log, moved);
  }
  if (recorded.status == Status::kRetrying) {
    consumer_.parts.hint(std::max(change.due_at - change.at, Duration::zero()));
  } else {
    consumer_.parts.escalated();
  }
  answer(place, std::move(recorded));
}

}  // namespace recourse::message
