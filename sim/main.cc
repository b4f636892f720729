// recourse_sim: runs seeds of the simulated cluster, and says what broke and how to see it again.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "sim/options.h"
#include "sim/runner.h"

int main(int argc, char** argv) {
  const auto options = recourse::sim::parse_options({argv + 1, argv + argc});
  if (!options) {
    std::fprintf(stderr, "recourse_sim: %s\n", options.error().message.c_str());
    return 2;
  }
  return recourse::sim::run_seeds(*options);
}
