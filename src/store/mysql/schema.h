// The tables in MariaDB and MySQL.
#pragma once

#include <span>
#include <string_view>

#include "store/relational/migrations.h"

namespace recourse::store::mysql {

inline constexpr std::string_view kCreateMeta =
    "CREATE TABLE IF NOT EXISTS recourse_meta (name VARBINARY(64) PRIMARY KEY,"
    " value BIGINT NOT NULL) ENGINE = InnoDB";

std::span<const relational::Migration> migrations();

}  // namespace recourse::store::mysql
