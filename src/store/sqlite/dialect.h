// SQLite's words. One process has the file, so nothing is locked and the clock is the process's
// own.
#pragma once

#include "store/relational/transaction.h"

namespace recourse::store::sqlite {

inline constexpr relational::Dialect kDialect{
    .now = "",
    .task_by_id = "recourse_task",
    .task_by_due = "recourse_task",
    .task_by_owner = "recourse_task",
    .for_update = "",
    .skip_locked = "",
    .after_delete = "",
    .add_count =
        "INSERT INTO recourse_counter (stripe, kind, state, n) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (stripe, kind, state) DO UPDATE SET n = n + excluded.n",
    .mark_by_id = "recourse_inbox",
    .or_replace_case =
        " ON CONFLICT (task_id) DO UPDATE SET fence = excluded.fence,"
        " opened_at = excluded.opened_at, reminders = excluded.reminders,"
        " remind_at = excluded.remind_at, assignee = excluded.assignee",
};

}  // namespace recourse::store::sqlite
