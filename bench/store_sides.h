// The databases of the store benchmark: each side starts on a fresh one, made by our own
// migrations.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/store_line.h"

namespace recourse::bench {

struct Contest {
  std::string name;
  // How many connections are tried; the best of them counts.
  std::vector<std::size_t> connections;
  // Of one measurement: enough for some tenths of a second.
  std::size_t tasks;
  std::function<std::unique_ptr<Side>()> limit;
  std::function<std::unique_ptr<Side>(std::size_t connections)> ours;
};

// SQLite, and the servers that RECOURSE_BENCH_POSTGRES and RECOURSE_BENCH_MARIADB name.
std::vector<Contest> contests();

}  // namespace recourse::bench
