#include "base/process_name.h"

#include <unistd.h>

#include <array>

namespace recourse {

std::string process_name() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host = {"localhost"};
  return std::string(host.data()) + ":" + std::to_string(getpid());
}

}  // namespace recourse
