// What handlers said, as users of the library see it.
#include <algorithm>

#include "embed/convert.h"

namespace recourse {

std::optional<double> progress_of(const std::vector<NoteView>& notes) {
  const auto newest = std::find_if(notes.rbegin(), notes.rend(),
                                   [](const NoteView& note) { return note.progress.has_value(); });
  return newest == notes.rend() ? std::nullopt : newest->progress;
}

namespace embed {
namespace {

NoteView view_of(const store::Note& note) {
  NoteView view{
      .attempt = note.attempt, .at = note.at, .progress = std::nullopt, .text = note.text};
  if (note.progress) view.progress = static_cast<double>(*note.progress) / store::kProgressMax;
  return view;
}

}  // namespace

Result<std::vector<NoteView>> notes_of(store::Reader& reader, std::string_view id,
                                       Duration within) {
  const Result<task::TaskId> parsed = task::parse_task_id("id", id);
  if (!parsed) return fail(parsed.error());
  const auto notes = reader.notes(*parsed, within);
  if (!notes) return fail(notes.error());
  if (notes->empty()) {
    // "None" is no answer for a task that does not exist.
    if (const auto task = reader.find(*parsed, within); !task) return fail(task.error());
  }
  std::vector<NoteView> views;
  for (const store::Note& note : *notes) views.push_back(view_of(note));
  return views;
}

}  // namespace embed
}  // namespace recourse
