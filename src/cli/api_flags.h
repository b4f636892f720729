// What every command that speaks to a server takes.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>

namespace recourse::cli {

struct ApiFlags {
  std::string server = {};
  // A secret on the command line would be seen by everybody on the machine.
  std::string token_file = {};
  // Longer than a server asks its store (10 s), so that its own words arrive.
  std::string timeout = "15s";
  bool json = false;
  bool quiet = false;
  bool no_color = false;
};

enum class TimeoutName : std::uint8_t {
  kShort,  // --timeout too
  kLong,   // only --request-timeout: the command has a --timeout that means something else
};

void add_api_flags(CLI::App& command, ApiFlags& flags, TimeoutName name = TimeoutName::kShort);

}  // namespace recourse::cli
