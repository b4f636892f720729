// What a new reading of the configuration changes, for SIGHUP.
#pragma once

#include <string>
#include <vector>

#include "app/config/config.h"

namespace recourse::app {

struct Change {
  std::string path;
  // As they would be written; empty where there is nothing, and equal where only a secret's value
  // behind its reference changed.
  std::string before;
  std::string after;
};

struct Changes {
  std::vector<Change> now;
  std::vector<Change> restart;
};

Changes what_changed(const Config& before, const Config& after);

}  // namespace recourse::app
