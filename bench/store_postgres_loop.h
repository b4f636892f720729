// Plain SQL on PostgreSQL: whole batches as arrays, one statement and one round trip each.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/store_line.h"

namespace recourse::bench {

std::unique_ptr<Line> postgres_loop(const std::string& url, std::uint64_t seed);

}  // namespace recourse::bench
