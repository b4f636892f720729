// A load generator for HTTP benchmarks: connections that each ask again as soon as they are
// answered, from one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace recourse::bench {

struct Load {
  int connections = 64;
  std::string request = {};
  std::string status = "200";  // what each must be answered
  std::chrono::milliseconds lasts = std::chrono::seconds(3);
};

// Answers a second, after a short run that is not counted. Every answer must be as long as the
// first one; what is not stops the program.
double answers_per_second(std::uint16_t port, const Load& load);

}  // namespace recourse::bench
