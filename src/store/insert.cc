// insert: ids come from the submitter, so everything here may be repeated.
#include <vector>

#include "store/batch.h"
#include "store/countdown.h"
#include "store/insert_run.h"
#include "store/transactional_store.h"

namespace recourse::store {
namespace {

bool is_keyed(const Submission& item) { return !item.spec.unique_key.value.empty(); }

// Somebody holds one of the keys in a transaction that stays open: all others go on without it.
Result<InsertAnswer> insert_apart(Backend& backend, std::span<const Submission> batch,
                                  Novelty novelty, const Countdown& countdown) {
  std::vector<std::vector<const Submission*>> parts(1);
  for (const Submission& item : batch) {
    if (is_keyed(item)) {
      parts.push_back({&item});
    } else {
      parts.front().push_back(&item);
    }
  }
  InsertAnswer answer{.now = {}, .items = std::vector<Inserted>(batch.size())};
  const auto place_of = [&](const Submission* item) {
    return static_cast<std::size_t>(item - batch.data());
  };
  bool any = false;
  for (const auto& part : parts) {
    if (part.empty()) continue;
    InsertRun run(part, novelty, KeyPatience::kBriefly);
    const Result<> ran = backend.run(Line::kWork, Repeat::kHarmless, countdown.left(), run);
    if (ran) {
      answer.now = run.now();
      const std::vector<Inserted> inserted = run.answers();
      for (std::size_t i = 0; i < part.size(); ++i) answer.items[place_of(part[i])] = inserted[i];
    } else if (ran.error().code == ErrorCode::kExhausted) {
      answer.items[place_of(part.front())] = {.result = Insertion::kKeyBusy,
                                              .task = part.front()->id};
    } else if (!any) {
      return fail(ran.error());
    } else {
      // Some of them exist by now: repeating all under the same ids finds out which.
      return fail(ErrorCode::kInDoubt, "part of the batch was inserted: " + ran.error().message);
    }
    any = true;
  }
  return answer;
}

}  // namespace

Result<InsertAnswer> TransactionalStore::insert(std::span<const Submission> batch, Novelty novelty,
                                                Duration within) {
  if (Result<> valid = check(batch); !valid) return fail(valid.error());
  const Countdown countdown(within);
  InsertRun run(pointers_to(batch), novelty, KeyPatience::kBriefly);
  const Result<> ran = backend_.run(Line::kWork, Repeat::kHarmless, within, run);
  if (ran) return InsertAnswer{.now = run.now(), .items = run.answers()};
  if (ran.error().code != ErrorCode::kExhausted) return fail(ran.error());
  if (batch.size() > 1) return insert_apart(backend_, batch, novelty, countdown);
  const Inserted busy{.result = Insertion::kKeyBusy, .task = batch.front().id};
  return InsertAnswer{.now = {}, .items = {busy}};
}

Result<InsertAnswer> TransactionalStore::insert_alone(const Submission& submission, Novelty novelty,
                                                      Duration within) {
  if (Result<> valid = check(std::span(&submission, 1)); !valid) return fail(valid.error());
  const Countdown countdown(within);
  InsertRun run({&submission}, novelty, KeyPatience::kUntilDeadline);
  // A database's own bound on waiting may be shorter than the deadline.
  while (countdown.left() > Duration::zero()) {
    const Result<> ran = backend_.run(Line::kWaiting, Repeat::kHarmless, countdown.left(), run);
    if (ran) return InsertAnswer{.now = run.now(), .items = run.answers()};
    if (ran.error().code != ErrorCode::kExhausted) return fail(ran.error());
  }
  return fail(ErrorCode::kUnavailable,
              "another transaction has taken this unique key and is still open; it was waited for "
              "until the deadline");
}

}  // namespace recourse::store
