#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "app/config_commands.h"
#include "app/configured.h"
#include "app/demo.h"
#include "app/doctor.h"
#include "app/guard_plan.h"
#include "app/serve.h"
#include "app/usage.h"
#include "app/version.h"
#include "cli/commands.h"

namespace recourse::app {
namespace {

constexpr int kUsage = 2;

struct ServeFlags {
  ConfigFlags config = {};
  bool plan = false;
};

void add_serve(CLI::App& program, cli::Terminal& terminal, ServeFlags& flags,
               std::function<int()>& chosen) {
  CLI::App& server = cli::add_command(
      program, "serve", "Run the server until it is told to stop",
      {"recourse serve", "recourse serve --config recourse.yaml",
       "recourse serve --store postgres://recourse@db/recourse --listen 127.0.0.1:7070"});
  add_config_flags(server, flags.config);
  server.add_flag("--plan", flags.plan,
                  "Only print what guards would add to their tables, as SQL, and end");
  server.callback([&] {
    chosen = [&] { return flags.plan ? print_plan(terminal, flags.config) : serve(flags.config); };
  });
}

// `help task` and `version`, as others have it.
std::vector<std::string> arguments_of(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  } else if (words == std::vector<std::string>{"version"}) {
    words.front() = "--version";
  }
  return words;
}

int refuse(const CLI::App& program, const std::vector<std::string>& arguments,
           const CLI::ParseError& error) {
  if (arguments.empty()) {
    std::cerr << program.help();
  } else {
    std::cerr << "recourse: " << usage_text(program, arguments, error.what()) << '\n';
  }
  return kUsage;
}

int run(int argc, char** argv) {
  CLI::App program("Recourse finishes what failed.", "recourse");
  cli::put_examples_first(program);
  program.set_version_flag("--version", "recourse " + std::string(kVersion));
  program.require_subcommand(1);
  std::function<int()> chosen;
  cli::Terminal terminal = cli::process_terminal(environment_of_process());
  ServeFlags flags;
  add_serve(program, terminal, flags, chosen);
  add_config_commands(program, chosen);
  cli::add_commands(program, terminal, chosen, guard_reports);
  add_guard_plan_command(program, terminal, chosen);
  add_doctor_command(program, terminal, chosen);
  add_demo_command(program, terminal, chosen);
  // Last: commands take their parent's examples with them.
  cli::set_examples(program, {"recourse demo", "recourse serve --config recourse.yaml",
                              "recourse task submit grant-points --payload '{\"user\": 7}'",
                              "recourse task list --state dead", "recourse top"});
  const std::vector<std::string> arguments = arguments_of(argc, argv);
  try {
    program.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    // Help and version are no errors.
    if (error.get_exit_code() == 0) return program.exit(error);
    return refuse(program, arguments, error);
  }
  return chosen ? chosen() : kUsage;
}

}  // namespace
}  // namespace recourse::app

int main(int argc, char** argv) { return recourse::app::run(argc, argv); }
