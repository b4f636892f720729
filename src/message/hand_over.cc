#include "message/hand_over.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/field_checks.h"
#include "engine/core/rules.h"
#include "message/first_attempt.h"
#include "message/log_lines.h"
#include "message/replay.h"
#include "store/limits.h"

namespace recourse::message {
namespace {

// Of one call of the store.
constexpr Duration kMarkPatience = std::chrono::seconds(10);
// What a row takes beside what its publisher sent.
constexpr std::size_t kRowBytes = 200;

std::size_t bytes_of(const store::Dealt& mark) {
  return kRowBytes + task::size_of(mark.task->spec);
}

// A batch on its way into the store.
struct Writing {
  std::span<const Message> batch;
  std::vector<Dealing> dealings;  // one for each of it
  std::vector<store::Dealt> marks;
  std::vector<std::size_t> places;  // of the marks' messages, in the batch

  [[nodiscard]] const Message& message_of(std::size_t mark) const { return batch[places[mark]]; }
  [[nodiscard]] Dealing& dealing_of(std::size_t mark) { return dealings[places[mark]]; }
};

class HandOver {
 public:
  HandOver(HandOverSettings settings, HandOverParts parts)
      : settings_(std::move(settings)), parts_(std::move(parts)) {
    (void)checked(settings_.handling);
  }

  Result<std::vector<Dealing>> deal(std::span<const Message> batch);

 private:
  Result<store::Dealt> mark_of(const Message& message);
  FirstAttempt attempt_of(task::TaskSpec spec, int retries);
  Dealing refuse(const Message& message, const Error& why);
  Result<> write_all(Writing& writing);
  // As many as one call takes. An error: nothing of them was written.
  Result<> write(Writing& writing, std::size_t begin, std::size_t end);
  void tell(const store::Dealt& gave_up);

  const HandOverSettings settings_;
  const HandOverParts parts_;
  const engine::KindRules rules_;
  Rng rng_{1};  // no wait of ours is spread
};

FirstAttempt HandOver::attempt_of(task::TaskSpec spec, int retries) {
  const TimePoint now = parts_.store_now();
  return {.id = task::TaskId(parts_.ids.next()),
          .spec = std::move(spec),
          .claim = {.owner = task::Incarnation(parts_.ids.next()),
                    .lease = task::LeaseId(parts_.ids.next())},
          .started_at = now,
          .ended_at = now,
          .retries = retries};
}

Result<store::Dealt> HandOver::mark_of(const Message& message) {
  const Envelope envelope = envelope_of(message, settings_.group);
  Result<task::TaskSpec> spec = spec_of(envelope, message.body, settings_.handling);
  if (!spec) return fail(std::move(spec).error());
  const Duration keep_for = settings_.handling.keep_done_for;
  const int retries = std::min(replays_of(message.headers), spec->max_retries);
  store::MessageKey key = key_of(scope_of(envelope), message.id);
  std::optional<std::string> wrong = message.unreadable.empty()
                                         ? misfit(message.body, settings_.format)
                                         : std::optional(message.unreadable);
  if (wrong) {
    return dealt(
        std::move(key), keep_for,
        tried(attempt_of(*std::move(spec), retries), unreadable(*std::move(wrong)), rules_, rng_));
  }
  if (retries > 0) {
    return dealt(std::move(key), keep_for, untried(attempt_of(*std::move(spec), retries)));
  }
  return store::Dealt{.key = std::move(key),
                      .keep_for = keep_for,
                      .task = store::Submission{.id = task::TaskId(parts_.ids.next()),
                                                .spec = *std::move(spec),
                                                .delay = Duration::zero(),
                                                .claim = std::nullopt}};
}

Dealing HandOver::refuse(const Message& message, const Error& why) {
  const Scope scope{.source = message.source, .group = settings_.group, .topic = message.topic};
  if (!parts_.refusals.add(key_of(scope, message.id))) return Dealing::kRefusedAgain;
  log_refused(parts_.log, message, settings_.group, why);
  return Dealing::kRefused;
}

Result<std::vector<Dealing>> HandOver::deal(std::span<const Message> batch) {
  Writing writing{.batch = batch,
                  .dealings = std::vector(batch.size(), Dealing::kNotYet),
                  .marks = {},
                  .places = {}};
  std::map<store::MessageKey, std::size_t> first_place;
  std::vector<std::pair<std::size_t, std::size_t>> repeated;  // place, and that of the first one
  for (std::size_t i = 0; i < batch.size(); ++i) {
    Result<store::Dealt> mark = mark_of(batch[i]);
    if (!mark) {
      writing.dealings[i] = refuse(batch[i], mark.error());
      continue;
    }
    const auto [there, is_new] = first_place.emplace(mark->key, i);
    if (is_new) {
      writing.marks.push_back(*std::move(mark));
      writing.places.push_back(i);
    } else {
      repeated.emplace_back(i, there->second);
    }
  }
  const Result<> written = write_all(writing);
  for (const auto& [place, first] : repeated) {
    const Dealing same = writing.dealings[first];
    writing.dealings[place] = same == Dealing::kRefused ? Dealing::kRefusedAgain : same;
  }
  const bool all_wait = std::ranges::all_of(
      writing.dealings, [](Dealing dealing) { return dealing == Dealing::kNotYet; });
  if (!written && all_wait) return fail(written.error());
  return std::move(writing.dealings);
}

Result<> HandOver::write_all(Writing& writing) {
  for (std::size_t begin = 0; begin < writing.marks.size();) {
    std::size_t end = begin;
    std::size_t bytes = 0;
    while (end < writing.marks.size() && end - begin < store::kBatchRowsMax) {
      bytes += bytes_of(writing.marks[end]);
      if (end > begin && bytes > store::kBatchBytesMax) break;
      ++end;
    }
    if (Result<> written = write(writing, begin, end); !written) return written;
    begin = end;
  }
  return {};
}

Result<> HandOver::write(Writing& writing, std::size_t begin, std::size_t end) {
  const auto part = std::span(writing.marks).subspan(begin, end - begin);
  const auto marked = parts_.inbox.mark(part, kMarkPatience);
  if (!marked && marked.error().code == ErrorCode::kInvalid) {
    // One of them is bad, and must not keep the others.
    if (part.size() == 1) {
      writing.dealing_of(begin) = refuse(writing.message_of(begin), marked.error());
      return {};
    }
    const std::size_t middle = begin + part.size() / 2;
    if (Result<> first = write(writing, begin, middle); !first) return first;
    return write(writing, middle, end);
  }
  if (!marked) return fail(marked.error());
  bool is_any_new = false;
  for (std::size_t i = 0; i < part.size(); ++i) {
    writing.dealing_of(begin + i) = Dealing::kDone;
    if (!(*marked)[i].is_new) continue;
    is_any_new = true;
    const bool gave_up = part[i].tried && part[i].tried->transition.to == task::State::kDead;
    if (gave_up) tell(part[i]);
  }
  if (is_any_new && parts_.hint) parts_.hint();
  return {};
}

void HandOver::tell(const store::Dealt& gave_up) {
  const engine::Moved moved = moved_of(*gave_up.task, *gave_up.tried, policy::Category::kBiz4xx,
                                       policy::Escalation::kDeadLetter);
  if (parts_.happened) {
    parts_.happened(moved);
  } else {
    log_consume_failed(parts_.log, moved);
  }
}

}  // namespace

Deal hand_over(HandOverSettings settings, HandOverParts parts) {
  const auto door = std::make_shared<HandOver>(std::move(settings), std::move(parts));
  return
      [door](std::span<const Message> batch, const std::stop_token&) { return door->deal(batch); };
}

}  // namespace recourse::message
