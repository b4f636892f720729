// Submits: gathered, inserted, answered; born claimed where a lane has room.
#include <utility>

#include "base/planted_bug.h"
#include "engine/core/core.h"
#include "store/shard.h"

namespace recourse::engine {
namespace {

const Error kKeyIsBusy{ErrorCode::kUnavailable,
                       "another transaction holds this unique key: try again when it has ended"};

}  // namespace

void Core::handle(Submit event, TimePoint now, Commands& out) {
  const task::TaskId id = event.submission.id;
  const SubmitId submit = event.submit;
  const auto refuse = [&](ErrorCode code, const char* why) {
    out.emplace_back(AnswerSubmits{{{submit, id, fail(code, why)}}});
  };
  if (stopping_) {
    refuse(ErrorCode::kUnavailable, "this node is stopping: submit to another one");
    return;
  }
  (void)lane_of(event.submission.spec.kind, now);
  if (!ingest_.add({.submit = submit,
                    .submission = std::move(event.submission),
                    .novelty = event.novelty})) {
    refuse(ErrorCode::kExhausted, kTooManySubmits);
  }
}

void Core::send_inserts(TimePoint now, Commands& out) {
  while (std::optional<Ingest::Batch> batch = ingest_.take(now)) {
    const Duration waited = batch->again ? now - batch->since : Duration::zero();
    if (waited >= settings_.store_timeout) {
      ingest_.end(true, 0, now, now);
      answer({{{batch->submits.front(), batch->submissions.front().id, fail(kKeyIsBusy)}}}, now,
             out);
      continue;
    }
    const CallId id(++calls_);
    InsertCall call{.submits = std::move(batch->submits),
                    .lease = task::LeaseId(ids_.next(now)),
                    .owner = life_.incarnation(),
                    .sent_at = now,
                    .again = batch->again};
    for (store::Submission& submission : batch->submissions) {
      submission.claim.reset();
      if (!batch->again && claim_at_birth(submission, now)) {
        submission.claim = {.owner = call.owner, .lease = call.lease};
      }
    }
    if (planted(PlantedBug::kAckBeforeCommit)) {
      AnswerSubmits early;
      for (std::size_t i = 0; i < call.submits.size(); ++i) {
        early.answers.push_back(
            {call.submits[i], batch->submissions[i].id, store::Insertion::kInserted});
      }
      answer(std::move(early), now, out);
    }
    out.emplace_back(Insert{.call = id,
                            .batch = std::move(batch->submissions),
                            .novelty = batch->novelty,
                            .may_wait = batch->again,
                            .within = settings_.store_timeout - waited});
    inserts_.emplace(id, std::move(call));
  }
}

// A place is reserved with it.
bool Core::claim_at_birth(const store::Submission& submission, TimePoint now) {
  if (submission.delay != Duration::zero()) return false;
  if (!settings_.shards.has(store::shard_of(submission.spec.shard_key))) return false;
  Lane* lane = lane_of(submission.spec.kind, now);
  if (lane == nullptr) return false;
  // Where the caller runs what fits nowhere, nothing that was born here is turned away.
  const bool is_kept = settings_.executor.rejection == Rejection::kCallerRuns || !is_queue_full();
  const bool may =
      !stopping_ && life_.may_act(now) && lane->room(now) > 0 && has_hold_room() && is_kept;
  if (may) {
    lane->reserve();
  } else {
    lane->may_have_more = true;
  }
  return may;
}

void Core::unreserve(const std::vector<store::Submission>& batch) {
  for (const store::Submission& submission : batch) {
    if (submission.claim) lanes_.at(submission.spec.kind)->unreserve();
  }
}

void Core::handle(InsertEnded event, TimePoint now, Commands& out) {
  auto found = inserts_.extract(event.call);
  if (!found) return;
  const InsertCall call = std::move(found.mapped());
  if (event.answer && reconciling_.out) ended_since_read_.insert(call.lease);
  ingest_.end(call.again, call.submits.size(), call.sent_at, now);
  unreserve(event.batch);
  if (!event.answer) {
    answer_failed(std::move(event), call, now, out);
    return;
  }
  // A store that took nothing has not looked at its clock.
  if (event.answer->now != TimePoint()) store_time_.learn(event.answer->now, now);
  AnswerSubmits answers;
  answers.answers.reserve(event.batch.size());
  for (std::size_t i = 0; i < event.batch.size(); ++i) {
    const store::Inserted& item = event.answer->items[i];
    store::Submission& submission = event.batch[i];
    if (item.result == store::Insertion::kKeyBusy && ingest_.has_room_to_wait()) {
      ingest_.take_back({.submits = {call.submits[i]},
                         .submissions = {std::move(submission)},
                         .since = call.sent_at});
      continue;
    }
    if (item.result == store::Insertion::kKeyBusy) {
      answers.answers.push_back({call.submits[i], item.task, fail(kKeyIsBusy)});
      continue;
    }
    answers.answers.push_back({call.submits[i], item.task, item.result});
    if (item.still_mine || (planted(PlantedBug::kBornNotMine) && submission.claim)) {
      take_in_born(std::move(submission), call, event.answer->now, now);
    } else if (item.result == store::Insertion::kInserted) {
      scanner_.expect(store_time_.local(saturating_add(event.answer->now, submission.delay)));
      if (submission.delay == Duration::zero()) hint_others_ = true;
    }
  }
  answer(std::move(answers), now, out);
}

void Core::take_in_born(store::Submission submission, const InsertCall& call, TimePoint store_now,
                        TimePoint now) {
  // Declared dead in between: whoever adopts it runs it.
  if (call.owner != life_.incarnation()) return;
  task::Task task;
  task.id = submission.id;
  task.spec = std::move(submission.spec);
  task.created_at = store_now;
  task.due_at = store_now;
  HeldTask& held = hold(task::apply(
      std::move(task),
      task::Claim{.owner = call.owner, .lease = call.lease, .lease_end = std::nullopt}));
  enqueue(held);
  if (stopping_) release(held, store_now, now);
}

bool Core::is_own(const SubmitAnswer& answer, TimePoint now, Commands& out) {
  if ((answer.submit.value & kFollowUpBit) != 0) {
    follow_up_answered(answer, now);
    return true;
  }
  if (answer.submit != kOwnSubmit) return false;
  // An occurrence: there by now, by whomever; or its key is taken, which is what the key is for.
  if (!answer.result) hear(answer.task, answer.result.error(), now, out);
  return true;
}

void Core::answer(AnswerSubmits answers, TimePoint now, Commands& out) {
  std::erase_if(answers.answers, [&](const SubmitAnswer& one) { return is_own(one, now, out); });
  if (!answers.answers.empty()) out.emplace_back(std::move(answers));
}

void Core::abandon(Commands& out) {
  AnswerSubmits answers;
  for (const WaitingSubmit& waiting : ingest_.take_all()) {
    answers.answers.push_back(
        {waiting.submit, waiting.submission.id,
         fail(ErrorCode::kUnavailable, "the node stopped before it could be written")});
  }
  answer(std::move(answers), settled_at_, out);
}

void Core::answer_failed(InsertEnded event, const InsertCall& call, TimePoint now, Commands& out) {
  const Error& error = event.answer.error();
  out.emplace_back(Happening(NodeHappened{NodeEvent::kStoreFailed, "insert: " + error.message}));
  if (error.code == ErrorCode::kInDoubt) next_reconcile_ = now;
  // One bad submit must not fail those it shares a transaction with.
  if (error.code == ErrorCode::kInvalid && event.batch.size() > 1) {
    for (std::size_t i = 0; i < event.batch.size(); ++i) {
      ingest_.take_back(
          {.submits = {call.submits[i]}, .submissions = {std::move(event.batch[i])}, .since = now});
    }
    return;
  }
  AnswerSubmits answers;
  for (std::size_t i = 0; i < event.batch.size(); ++i) {
    answers.answers.push_back({call.submits[i], event.batch[i].id, fail(error)});
  }
  answer(std::move(answers), now, out);
}

}  // namespace recourse::engine
