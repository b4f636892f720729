// What the program really goes by, and where each value came from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/config/config.h"

namespace recourse::app {

struct Setting {
  std::string path;
  // As it would be written. Of a secret its reference, never what it refers to.
  std::string value;
  // "default", a place in the file, a variable or a flag; "derived" where it follows from others.
  std::string origin;
};

enum class Which : std::uint8_t { kChanged, kAll };

std::vector<Setting> settings_of(const Config& config, Which which);
// A line each, aligned.
std::string to_text(const std::vector<Setting>& settings);

}  // namespace recourse::app
