#include "embed/follow_ups.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "embed/convert.h"
#include "engine/core/held_task.h"
#include "task/follow_up.h"

namespace recourse::embed {
namespace {

bool ends_task(OutcomeKind kind) {
  switch (kind) {
    case OutcomeKind::kDone:
    case OutcomeKind::kDeadLetter:
    case OutcomeKind::kFailed:
    case OutcomeKind::kCancelled: return true;
    case OutcomeKind::kRetry:
    case OutcomeKind::kSnooze:
    case OutcomeKind::kPaused: return false;
  }
  return false;
}

}  // namespace

Result<std::vector<store::Submission>> follow_ups_of(const Outcome& outcome,
                                                     const task::Task& parent,
                                                     const Answering& answering) {
  std::vector<store::Submission> made;
  const std::vector<Submission>& asked = outcome.follow_ups;
  if (asked.empty()) return made;
  if (!ends_task(outcome.kind)) {
    return fail(ErrorCode::kInvalid, "only an answer that ends the task may have follow-ups");
  }
  if (asked.size() > engine::kFollowUpsMax) {
    return fail(ErrorCode::kInvalid, fmt::format("{} follow-ups are more than the {} allowed",
                                                 asked.size(), engine::kFollowUpsMax));
  }
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto wrong = [&](std::string_view what) {
      return fail(ErrorCode::kInvalid, fmt::format("follow-up {} of {} ({}): {}", i + 1,
                                                   asked.size(), asked[i].kind, what));
    };
    if (!asked[i].options.id.empty()) {
      return wrong("its id follows from its parent's and cannot be chosen");
    }
    const task::TaskId id =
        task::follow_up_id(parent.id, parent.episode, static_cast<std::uint32_t>(i));
    auto next = submission_of(asked[i], id.value, answering.now(), answering);
    if (!next) return wrong(next.error().message);
    task::TaskSpec& spec = next->submission.spec;
    if (spec.trace_parent.empty()) spec.trace_parent = parent.spec.trace_parent;
    if (!spec.unique_key.value.empty() && task::account_of(spec) == task::account_of(parent.spec)) {
      return wrong("its unique key is its parent's own, which is not finished before it exists");
    }
    bytes += task::size_of(spec);
    made.push_back(std::move(next->submission));
  }
  if (bytes > engine::kFollowUpBytesMax) {
    return fail(ErrorCode::kInvalid, fmt::format("follow-ups of {} bytes together are more than "
                                                 "the {} allowed",
                                                 bytes, engine::kFollowUpBytesMax));
  }
  return made;
}

}  // namespace recourse::embed
