// What handlers say while they run. It waits here for the next call to the store, or goes with the
// attempt's outcome where that comes first; nothing of it holds a task up.
#include <algorithm>
#include <utility>

#include "engine/core/core.h"

namespace recourse::engine {
namespace {

// Shorter than for what matters: the next notes are newer.
constexpr Duration kNotePatience = std::chrono::seconds(2);

}  // namespace

void Core::handle(const AttemptNoted& event, TimePoint now, Commands&) {
  std::vector<Said> said = event.pad->take();
  const auto found = attempts_.find(event.attempt);
  if (found == attempts_.end() || found->second->decided) return;
  const HeldTask* held = find_held(found->second->task);
  if (held == nullptr || held->stage != Stage::kRunning ||
      held->task->ticket.fence != found->second->fence) {
    return;
  }
  const task::Task& task = *held->task;
  for (Said& one : said) {
    notes_.add(event.attempt, {.ticket = task.ticket,
                               .note = {.task = task.id,
                                        .fence = task.ticket.fence,
                                        .number = ++found->second->notes,
                                        .attempt = task.attempts + 1,
                                        .at = store_time_.at(now),
                                        .progress = one.progress,
                                        .text = std::move(one.text)}});
  }
}

void Core::send_notes(TimePoint now, Commands& out) {
  std::optional<std::vector<store::Jotting>> batch = notes_.take(now);
  if (!batch) return;
  out.emplace_back(WriteNotes{.call = CallId(++calls_),
                              .batch = *std::move(batch),
                              .within = std::min(settings_.store_timeout, kNotePatience)});
}

// Those that were not taken are gone: people see the next ones.
void Core::handle(const NotesEnded& event, TimePoint, Commands& out) {
  notes_.end();
  if (event.answer) return;
  out.emplace_back(
      Happening(NodeHappened{NodeEvent::kStoreFailed, "note: " + event.answer.error().message}));
}

}  // namespace recourse::engine
