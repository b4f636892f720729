#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <functional>
#include <iostream>

#include "app/config_commands.h"
#include "app/serve.h"
#include "app/version.h"

namespace recourse::app {
namespace {

constexpr int kUsage = 2;

constexpr const char* kAbout =
    "Recourse finishes what failed.\n\n"
    "  recourse serve --config recourse.yaml\n"
    "  recourse config check --config recourse.yaml\n";

int run(int argc, char** argv) {
  CLI::App program(kAbout, "recourse");
  program.set_version_flag("--version", "recourse " + std::string(kVersion));
  program.require_subcommand(1);
  std::function<int()> chosen;
  ConfigFlags flags;
  CLI::App* server = program.add_subcommand("serve", "Run the server until it is told to stop");
  add_config_flags(*server, flags);
  server->callback([&] { chosen = [&] { return serve(flags); }; });
  add_config_commands(program, chosen);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version are no errors, and have an exit code of their own.
    return program.exit(error) == 0 ? 0 : kUsage;
  }
  return chosen ? chosen() : kUsage;
}

}  // namespace
}  // namespace recourse::app

int main(int argc, char** argv) { return recourse::app::run(argc, argv); }
