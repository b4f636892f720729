// What handlers say. A note that comes again, because its reply was lost or an outcome brought it
// too, is recognised by its fence and number; the rows of the tasks are locked meanwhile.
#include <map>
#include <set>
#include <utility>

#include "store/relational/transaction.h"

namespace recourse::store::relational {
namespace {

using task::TaskId;

using Place = std::pair<std::int64_t, std::int64_t>;  // fence and number

struct Places {
  std::set<Place> stored;
  std::map<Place, const Note*> fresh;
  // To be deleted.
  std::vector<Place> old;

  // Oldest first, until the rest is not too many.
  void forget_oldest() {
    while (stored.size() + fresh.size() > static_cast<std::size_t>(kNotesKept)) {
      const bool is_fresh =
          stored.empty() || (!fresh.empty() && fresh.begin()->first < *stored.begin());
      if (is_fresh) {
        fresh.erase(fresh.begin());
      } else {
        old.push_back(*stored.begin());
        stored.erase(stored.begin());
      }
    }
  }
};
using PlacesByTask = std::map<TaskId, Places>;

Result<> read_stored(sql::Connection& connection, PlacesByTask& tasks) {
  std::vector<TaskId> ids;
  for (const auto& [id, places] : tasks) ids.push_back(id);
  Values values;
  fill_list(values, std::span<const TaskId>(ids),
            [](Values& list, const TaskId& id) { list.id(id.value); });
  return connection.query(
      "SELECT task_id, fence, number FROM recourse_note WHERE task_id IN " + list_of(ids.size()),
      values.view(), [&](const sql::Row& row) {
        tasks[TaskId(read_ulid(row.bytes(0)))].stored.emplace(row.integer(1), row.integer(2));
      });
}

void add_row(Values& rows, const Note& note) {
  rows.id(note.task.value)
      .integer(note.fence.value)
      .integer(note.number)
      .integer(note.attempt)
      .time(note.at);
  if (note.progress) {
    rows.integer(*note.progress);
  } else {
    rows.null();
  }
  rows.text(note.text);
}

}  // namespace

Result<> RelationalTransaction::add_notes(std::span<const Note> notes) {
  PlacesByTask tasks;
  for (const Note& note : notes) tasks[note.task];
  if (Result<> read = read_stored(connection(), tasks); !read) return read;
  for (const Note& note : notes) {
    Places& places = tasks.at(note.task);
    const Place place(note.fence.value, note.number);
    if (!places.stored.contains(place)) places.fresh.emplace(place, &note);
  }
  Values rows;
  Values old;
  for (auto& [id, places] : tasks) {
    places.forget_oldest();
    for (const auto& [place, note] : places.fresh) add_row(rows, *note);
    for (const auto& [fence, number] : places.old) old.id(id.value).integer(fence).integer(number);
  }
  if (!rows.empty()) {
    Result<> added = connection().execute_later(
        "INSERT INTO recourse_note (task_id, fence, number, attempt, at, progress, said)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        7, rows.view());
    if (!added) return added;
  }
  if (old.empty()) return {};
  return connection().execute_later(
      "DELETE FROM recourse_note WHERE task_id = ? AND fence = ? AND number = ?", 3, old.view());
}

}  // namespace recourse::store::relational
