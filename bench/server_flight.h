#pragma once

#include <vector>

#include "bench/report.h"

namespace recourse::bench {

// How many threads the server has while 1,000 of its calls wait for an answer.
std::vector<Figure> measure_calls_in_flight();

}  // namespace recourse::bench
