// How unique keys are taken inside of a transaction that may stay open for long.
#pragma once

#include "store/relational/lent.h"

namespace recourse::store::postgres {

inline constexpr relational::LentWords kLentWords{
    .take_key =
        "INSERT INTO recourse_unique (account, task_id) VALUES (?, ?)"
        " ON CONFLICT (account) DO NOTHING",
    .find_holder = "SELECT task_id FROM recourse_unique WHERE account = ?",
};

}  // namespace recourse::store::postgres
