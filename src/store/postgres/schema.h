// The tables in PostgreSQL.
#pragma once

#include <span>
#include <string_view>

#include "store/relational/migrations.h"

namespace recourse::store::postgres {

inline constexpr std::string_view kCreateMeta =
    "CREATE TABLE IF NOT EXISTS recourse_meta (name text COLLATE \"C\" PRIMARY KEY,"
    " value bigint NOT NULL)";

std::span<const relational::Migration> migrations();

}  // namespace recourse::store::postgres
