// Follow-ups: tasks that a handler's answer brings with it. What its own task comes to is held back
// until the store has them all, so that whoever sees the end of the one finds the others. Their ids
// follow from the task's own: however often it runs, each exists once.
#include <algorithm>
#include <utility>

#include "engine/core/core.h"

namespace recourse::engine {
namespace {

// After an error nobody hammers the store with them.
constexpr Duration kFollowUpPause = std::chrono::milliseconds(500);

}  // namespace

// False: the task goes on, and so it has none.
bool Core::hold_back(HeldTask& held, store::Outcome& outcome, const News& news) {
  std::vector<store::Submission> follow_ups = std::exchange(held.follow_ups, {});
  const task::State to = outcome.transition.to;
  if (!task::is_finished(to) && !task::needs_person(to)) return false;
  set_stage(held, Stage::kFollowing);
  std::size_t bytes = 0;
  for (const store::Submission& next : follow_ups) bytes += sizeof next + task::size_of(next.spec);
  held_bytes_ += bytes;
  following_.insert_or_assign(held.task->id, Following{.outcome = std::move(outcome),
                                                       .news = news,
                                                       .missing = std::move(follow_ups),
                                                       .bytes = bytes});
  return true;
}

void Core::send_follow_ups(TimePoint now) {
  for (auto& [parent, following] : following_) {
    if (following.out > 0 || now < following.again_at) continue;
    for (const store::Submission& next : following.missing) {
      (void)lane_of(next.spec.kind, now);
      const SubmitId submit(kFollowUpBit | ++follow_up_ids_);
      if (!ingest_.add(
              {.submit = submit, .submission = next, .novelty = store::Novelty::kRepeat})) {
        following.again_at = now + kFollowUpPause;
        break;
      }
      ++following.out;
      follow_ups_out_.emplace(submit, FollowUp{.parent = parent,
                                               .ticket = following.outcome.transition.ticket,
                                               .task = next.id});
    }
  }
}

void Core::follow_up_answered(const SubmitAnswer& answer, TimePoint now) {
  const auto sent = follow_ups_out_.extract(answer.submit);
  if (!sent) return;
  const FollowUp& next = sent.mapped();
  HeldTask* held = find_held(next.parent);
  const bool is_awaited =
      held != nullptr && held->stage == Stage::kFollowing && held->task->ticket == next.ticket;
  if (!is_awaited) return;
  Following& following = following_.at(next.parent);
  --following.out;
  if (answer.result) {
    // Where another task has its unique key, that one is it.
    std::erase_if(following.missing,
                  [&](const store::Submission& item) { return item.id == next.task; });
  } else if (const Error& error = answer.result.error();
             error.code == ErrorCode::kInvalid || error.code == ErrorCode::kCorrupt) {
    following.wrong = error.message;
  } else {
    following.again_at = now + kFollowUpPause;
  }
  if (following.out == 0) follow_ups_written(*held, now);
}

void Core::follow_ups_written(HeldTask& held, TimePoint now) {
  const auto found = following_.find(held.task->id);
  if (!found->second.wrong && !found->second.missing.empty()) return;
  Following following = std::move(found->second);
  following_.erase(found);
  held_bytes_ -= following.bytes;
  if (following.wrong) {
    give_up_following(held, std::move(following), now);
  } else {
    write(held, std::move(following.outcome), following.news);
  }
}

// Nothing that is tried again heals it.
void Core::give_up_following(HeldTask& held, Following following, TimePoint now) {
  const task::Transition& meant = following.outcome.transition;
  task::Transition end = task::plan(*held.task, task::Move::kGiveUp, store_time_.at(now));
  end.attempts = meant.attempts;
  end.first_started_at = meant.first_started_at;
  end.error =
      task::Reason{std::string(kFollowUpInvalid),
                   "its handler ended, but the store refuses a follow-up: " + *following.wrong};
  store::Attempt row;
  row.task = held.task->id;
  row.number = end.attempts;
  row.started_at = meant.at - following.news.took.value_or(Duration::zero());
  row.ended_at = meant.at;
  row.owner = task::to_string(task::Owner(life_.incarnation()));
  row.fence = end.ticket.fence;
  row.decision = end.move;
  row.error = end.error;
  write(held,
        {.transition = std::move(end),
         .attempt = std::move(row),
         .notes = std::move(following.outcome.notes)},
        {.category = policy::Category::kUnknown,
         .escalation = policy::Escalation::kDeadLetter,
         .took = following.news.took});
}

TimePoint Core::next_follow_up() const {
  TimePoint next = kNever;
  for (const auto& [parent, following] : following_) {
    if (following.out == 0) next = std::min(next, following.again_at);
  }
  return next;
}

}  // namespace recourse::engine
