// Messages that are marked, with and without a task that goes on, looked up, forgotten and swept.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "store/contract/contract.h"
#include "task/transition.h"
#include "tests/differential/operations.h"

namespace recourse::tests::differential {

using namespace std::chrono_literals;
using namespace store;
using store::contract::kWithin;
using task::Move;
using task::Task;

namespace {

// So few that most come again.
constexpr std::size_t kMessages = 40;

struct Message {
  Dealt dealt;
  // Of its first attempt; the times are each side's own.
  std::optional<Move> tried;
  std::int64_t order = 0;
};

Outcome tried_on(const Side& side, const Message& message) {
  const Submission& item = *message.dealt.task;
  Task born;
  born.id = item.id;
  born.spec = item.spec;
  born = task::apply(std::move(born), task::Claim{.owner = item.claim->owner,
                                                  .lease = item.claim->lease,
                                                  .lease_end = std::nullopt});
  Outcome outcome{.transition = task::plan(born, *message.tried, side.now()),
                  .attempt = std::nullopt};
  task::Transition& change = outcome.transition;
  change.due_at = side.now() - 1s + Duration(message.order);
  change.attempts = 1;
  change.first_started_at = side.now();
  change.error = task::Reason{"HTTP_503", "not now"};
  outcome.attempt = Attempt{.task = born.id,
                            .number = 1,
                            .started_at = side.now(),
                            .ended_at = side.now(),
                            .owner = "first",
                            .fence = change.ticket.fence,
                            .decision = *message.tried,
                            .error = change.error,
                            .next_due = change.due_at};
  return outcome;
}

std::string seen_words(const std::optional<Seen>& seen) {
  if (!seen) return "unknown; ";
  return seen->task ? to_string(*seen->task) + "; " : "done; ";
}

}  // namespace

MessageKey Operations::any_message() { return MessageKey(fmt::format("m{}", below(kMessages))); }

Operation Operations::deal() {
  std::vector<Message> batch;
  const std::size_t count = is_one_by_one_ ? 1 : 1 + below(6);
  while (batch.size() < count) {
    Message message{
        .dealt = {.key = any_message(), .keep_for = chance(30) ? Duration(1us) : Duration(1h)},
        .tried = std::nullopt,
        .order = static_cast<std::int64_t>(batch.size() * 1'000 + below(1'000))};
    if (chance(60)) {
      message.dealt.task = fresh();
      message.dealt.task->spec.unique_key = task::UniqueKey();
      if (message.dealt.task->claim && chance(70)) {
        message.tried = any_of(std::vector{Move::kRetry, Move::kGiveUp, Move::kFail, Move::kSucceed,
                                           Move::kPause, Move::kRelease});
      }
    }
    batch.push_back(std::move(message));
  }
  // Now and then a key twice: refused as a whole.
  return {fmt::format("deal with {}", batch.size()), [batch = std::move(batch)](Side& side) {
            std::vector<Dealt> dealt;
            for (const Message& message : batch) {
              dealt.push_back(message.dealt);
              if (message.tried) dealt.back().tried = tried_on(side, message);
            }
            const auto marked = side.inbox().mark(dealt, kWithin);
            if (!marked) return words(marked.error());
            std::string told;
            for (const Marked& one : *marked) {
              told += (one.is_new ? "new " : "known ") + seen_words(one.seen);
            }
            return told;
          }};
}

Operation Operations::look_through_inbox() {
  std::vector<MessageKey> keys;
  const std::size_t count = 1 + below(6);
  while (keys.size() < count) keys.push_back(any_message());
  const bool forgets = chance(30);
  const bool sweeps = chance(30);
  return {"look through the inbox", [=](Side& side) {
            std::string told;
            const auto found = side.inbox().look_up(keys, kWithin);
            if (!found) return words(found.error());
            for (const auto& seen : *found) told += seen_words(seen);
            if (forgets) told += fmt::format("{} forgotten; ", *side.inbox().forget(keys, kWithin));
            if (sweeps) {
              told += fmt::format("{} swept", *side.inbox().sweep(kPageRowsMax, kWithin));
            }
            return told;
          }};
}

}  // namespace recourse::tests::differential
