// A consumer to be killed: receives what it can get, says how many, and never decides.
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

#include "message/open_source.h"

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  recourse::message::SourceSettings settings{
      .name = "victim", .url = argv[1], .topic = argv[2], .group = argv[3]};
  settings.heartbeat = 6s;
  recourse::NullLog log;
  auto source = recourse::message::open_source(settings, log).value();
  const auto wanted = static_cast<std::size_t>(std::atoi(argv[4]));
  for (std::size_t out = 0;;) {
    const auto batch = source->receive(wanted, std::chrono::steady_clock::now() + 1s);
    if (!batch || batch->empty()) continue;
    out += batch->size();
    if (out >= wanted) std::cout << out << std::endl;
  }
}
