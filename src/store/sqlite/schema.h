// The tables in a SQLite file.
#pragma once

#include <span>
#include <string_view>

#include "store/relational/migrations.h"

namespace recourse::store::sqlite {

inline constexpr std::string_view kCreateMeta =
    "CREATE TABLE IF NOT EXISTS recourse_meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL)";

std::span<const relational::Migration> migrations();

}  // namespace recourse::store::sqlite
