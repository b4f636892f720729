#include "message/hand_over.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/field_checks.h"
#include "engine/core/rules.h"
#include "message/first_attempt.h"
#include "message/replay.h"
#include "policy/decision.h"
#include "store/limits.h"

namespace recourse::message {
namespace {

// Of one call of the store.
constexpr Duration kMarkPatience = std::chrono::seconds(10);
// What a row takes beside what its publisher sent.
constexpr std::size_t kRowBytes = 200;

bool is_json(std::string_view body) {
  boost::system::error_code error;
  boost::json::monotonic_resource memory;
  (void)boost::json::parse(body, error, &memory);
  return !error;
}

// A message on its way into the store.
struct Item {
  std::size_t place;  // in the batch
  std::string id;
  store::Dealt dealt;
  // Set where a person has to look at once.
  bool gave_up = false;

  [[nodiscard]] std::size_t bytes() const { return kRowBytes + task::size_of(dealt.task->spec); }
};

class HandOver {
 public:
  HandOver(HandOverSettings settings, HandOverParts parts)
      : settings_(std::move(settings)), parts_(std::move(parts)) {
    (void)checked(settings_.handling);
  }

  Result<std::vector<Dealing>> deal(std::span<const Message> batch);

 private:
  Result<Item> item_of(const Message& message, std::size_t place);
  FirstAttempt attempt_of(task::TaskSpec spec, int retries);
  void refuse(const Message& message, const Error& why);
  // A part of what is to be written, as large as one call takes. An error: nothing of it was.
  Result<> write(std::span<Item> items, std::span<const Message> batch,
                 std::vector<Dealing>& dealings);
  Result<> write_parts(std::vector<Item>& items, std::span<const Message> batch,
                       std::vector<Dealing>& dealings);
  void tell(const Item& item, std::string_view topic);

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

Result<Item> HandOver::item_of(const Message& message, std::size_t place) {
  const Envelope envelope = envelope_of(message, settings_.group);
  Result<task::TaskSpec> spec = spec_of(envelope, message.body, settings_.handling);
  if (!spec) return fail(std::move(spec).error());
  const Duration keep_for = settings_.handling.keep_done_for;
  const int retries = std::min(replays_of(message.headers), spec->max_retries);
  Item item{.place = place,
            .id = message.id,
            .dealt = {.key = key_of(scope_of(envelope), message.id), .keep_for = keep_for}};
  if (settings_.format == BodyFormat::kJson && !is_json(message.body)) {
    const auto decision = policy::dead_letter(
        policy::Category::kUnknown, "SERDE_ERROR",
        "the body is not JSON: correct the publisher, or edit the body and retry");
    item.gave_up = true;
    item.dealt = dealt(item.dealt.key, keep_for,
                       tried(attempt_of(*std::move(spec), retries), decision, rules_, rng_));
  } else if (retries > 0) {
    item.dealt = dealt(item.dealt.key, keep_for, untried(attempt_of(*std::move(spec), retries)));
  } else {
    item.dealt.task = store::Submission{.id = task::TaskId(parts_.ids.next()),
                                        .spec = *std::move(spec),
                                        .delay = Duration::zero(),
                                        .claim = std::nullopt};
  }
  return item;
}

void HandOver::refuse(const Message& message, const Error& why) {
  parts_.log.error(
      "message_refused",
      {{"source", message.source},
       {"topic", message.topic},
       {"message", message.id.substr(0, task::kKeyBytesMax)},
       {"error", why.message},
       {"hint",
        "it can never be recorded and stays with the broker: publish it smaller or under a "
        "shorter id, and delete this one there"}});
}

Result<std::vector<Dealing>> HandOver::deal(std::span<const Message> batch) {
  std::vector<Dealing> dealings(batch.size(), Dealing::kNotYet);
  std::vector<Item> items;
  std::map<store::MessageKey, std::size_t> first_place;
  std::vector<std::pair<std::size_t, std::size_t>> repeated;  // place, and that of the first one
  for (std::size_t i = 0; i < batch.size(); ++i) {
    Result<Item> item = item_of(batch[i], i);
    if (!item) {
      refuse(batch[i], item.error());
      dealings[i] = Dealing::kRefused;
      continue;
    }
    const auto [there, is_new] = first_place.emplace(item->dealt.key, i);
    if (is_new) {
      items.push_back(*std::move(item));
    } else {
      repeated.emplace_back(i, there->second);
    }
  }
  const Result<> written = write_parts(items, batch, dealings);
  for (const auto& [place, first] : repeated) dealings[place] = dealings[first];
  const bool all_wait =
      std::ranges::all_of(dealings, [](Dealing dealing) { return dealing == Dealing::kNotYet; });
  if (!written && all_wait) return fail(written.error());
  return dealings;
}

Result<> HandOver::write_parts(std::vector<Item>& items, std::span<const Message> batch,
                               std::vector<Dealing>& dealings) {
  for (std::size_t begin = 0; begin < items.size();) {
    std::size_t end = begin;
    std::size_t bytes = 0;
    while (end < items.size() && end - begin < store::kBatchRowsMax) {
      bytes += items[end].bytes();
      if (end > begin && bytes > store::kBatchBytesMax) break;
      ++end;
    }
    const auto part = std::span(items).subspan(begin, end - begin);
    if (Result<> written = write(part, batch, dealings); !written) return written;
    begin = end;
  }
  return {};
}

Result<> HandOver::write(std::span<Item> items, std::span<const Message> batch,
                         std::vector<Dealing>& dealings) {
  std::vector<store::Dealt> marks;
  marks.reserve(items.size());
  for (Item& item : items) marks.push_back(item.dealt);
  const auto marked = parts_.inbox.mark(marks, kMarkPatience);
  if (!marked && marked.error().code == ErrorCode::kInvalid) {
    // One of them is bad, and must not keep the others.
    if (items.size() == 1) {
      refuse(batch[items[0].place], marked.error());
      dealings[items[0].place] = Dealing::kRefused;
      return {};
    }
    const std::size_t half = items.size() / 2;
    if (Result<> one = write(items.first(half), batch, dealings); !one) return one;
    return write(items.subspan(half), batch, dealings);
  }
  if (!marked) return fail(marked.error());
  bool is_any_new = false;
  for (std::size_t i = 0; i < items.size(); ++i) {
    dealings[items[i].place] = Dealing::kDone;
    if (!(*marked)[i].is_new) continue;
    is_any_new = true;
    if (items[i].gave_up) tell(items[i], batch[items[i].place].topic);
  }
  if (is_any_new && parts_.hint) parts_.hint();
  return {};
}

void HandOver::tell(const Item& item, std::string_view topic) {
  const std::string id = task::to_string(item.dealt.task->id);
  const std::string& why = item.dealt.tried->transition.error->message;
  parts_.log.warning("message_consume_failed", {{"message", item.id},
                                                {"topic", std::string(topic)},
                                                {"task", id},
                                                {"code", "SERDE_ERROR"},
                                                {"error", why}});
  parts_.log.warning("message_gave_up",
                     {{"message", item.id}, {"task", id}, {"code", "SERDE_ERROR"}});
}

}  // namespace

Deal hand_over(HandOverSettings settings, HandOverParts parts) {
  const auto door = std::make_shared<HandOver>(std::move(settings), std::move(parts));
  return
      [door](std::span<const Message> batch, const std::stop_token&) { return door->deal(batch); };
}

}  // namespace recourse::message
