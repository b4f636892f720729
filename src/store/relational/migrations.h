// Brings a database to the schema this program knows, step by step.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "sql/connection.h"

namespace recourse::store::relational {

// Numbered from 1 without gaps, never edited once released. Each step stands alone and may be
// repeated, because some databases commit every one of them.
struct Migration {
  std::span<const std::string_view> steps;
};

// Refuses a database that a newer program has written. The caller holds a lock against other nodes
// that start at the same time.
Result<> migrate(sql::Connection& connection, std::string_view create_meta,
                 std::span<const Migration> migrations);

}  // namespace recourse::store::relational
