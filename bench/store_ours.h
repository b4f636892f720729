// Our store as a side of the benchmark.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/store_line.h"
#include "store/store.h"

namespace recourse::bench {

std::unique_ptr<Line> line_on(store::Store& store, std::uint64_t seed);

}  // namespace recourse::bench
