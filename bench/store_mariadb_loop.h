// Plain SQL on MariaDB: many rows in one message where that is faster, lists of ids elsewhere.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/store_line.h"

namespace recourse::bench {

std::unique_ptr<Line> mariadb_loop(const std::string& url, std::uint64_t seed);

}  // namespace recourse::bench
