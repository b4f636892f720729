#pragma once

#include <cstddef>
#include <vector>

#include "bench/report.h"
#include "bench/store_sides.h"

namespace recourse::bench {

// How long a page of 50 takes, at its 99th percentile, through GET /api/v1/tasks, with so many
// tasks in the store.
std::vector<Figure> measure_pages(const Contest& contest, std::size_t tasks);

}  // namespace recourse::bench
