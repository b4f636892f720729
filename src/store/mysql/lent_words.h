// How unique keys are taken inside of a transaction that may stay open for long.
#pragma once

#include "store/relational/lent.h"

namespace recourse::store::mysql {

// What stands in the way of the insert is locked by it until the end, so that the second statement
// adds no lock; and only a locking read sees what was committed after the caller's transaction
// began, under the default isolation.
inline constexpr relational::LentWords kLentWords{
    .take_key = "INSERT IGNORE INTO recourse_unique (account, task_id) VALUES (?, ?)",
    .find_holder = "SELECT task_id FROM recourse_unique WHERE account = ? LOCK IN SHARE MODE",
};

}  // namespace recourse::store::mysql
