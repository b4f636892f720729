// Plain SQL on a SQLite file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/store_line.h"

namespace recourse::bench {

std::unique_ptr<Line> sqlite_loop(const std::string& path, std::uint64_t seed);

}  // namespace recourse::bench
