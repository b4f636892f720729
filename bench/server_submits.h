#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "bench/report.h"
#include "bench/store_line.h"

namespace recourse::bench {

// Submits of 1 KiB over HTTP on 64 connections that stay, beside 64 threads that submit the same to
// an engine in this process. Nobody runs the tasks. Every round of a side has a fresh database.
std::vector<Figure> measure_submits(const std::function<std::unique_ptr<Side>()>& fresh_database);

}  // namespace recourse::bench
