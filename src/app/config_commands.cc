#include "app/config_commands.h"

#include <iostream>
#include <memory>
#include <vector>

#include "app/authorities.h"
#include "app/config/effective.h"
#include "app/config/reference.h"
#include "app/configured.h"
#include "cli/command.h"

namespace recourse::app {
namespace {

constexpr int kConfigUsage = 2;

// A server starts without the certificates of a source, and shows which one lacks its own: only
// whoever checks wants to hear of them, all at once.
bool names_missing_authorities(const ConfigFlags& flags) {
  const Loaded loaded = load_flags(flags, environment_of_process());
  if (!loaded.config) return false;
  const std::vector<Problem> files = check_authorities(*loaded.config);
  for (const Problem& problem : files) std::cerr << to_string(problem) << '\n';
  return !files.empty();
}

int check(const ConfigFlags& flags) {
  if (names_missing_authorities(flags)) return kConfigUsage;
  if (!load_or_complain(flags, environment_of_process())) return kConfigUsage;
  std::cerr << "the configuration is fine\n";
  return 0;
}

int show(const ConfigFlags& flags, bool all) {
  const auto config = load_or_complain(flags, environment_of_process());
  if (!config) return kConfigUsage;
  std::cout << to_text(settings_of(*config, all ? Which::kAll : Which::kChanged));
  return 0;
}

int reference(bool markdown) {
  std::cout << (markdown ? reference_markdown() : reference_yaml());
  return 0;
}

}  // namespace

void add_config_commands(CLI::App& program, std::function<int()>& chosen) {
  CLI::App& config =
      cli::add_group(program, "config", "Check and show the configuration",
                     {"recourse config check --config recourse.yaml", "recourse config reference"});
  const auto flags = std::make_shared<ConfigFlags>();
  const auto flag = std::make_shared<bool>(false);

  CLI::App& check_it = cli::add_command(config, "check", "Say what is wrong with a configuration",
                                        {"recourse config check --config recourse.yaml"});
  add_config_flags(check_it, *flags);
  check_it.callback([&chosen, flags] { chosen = [flags] { return check(*flags); }; });

  CLI::App& show_it = cli::add_command(config, "show", "What is set, and by what",
                                       {"recourse config show --config recourse.yaml --all"});
  add_config_flags(show_it, *flags);
  show_it.add_flag("--all", *flag, "Defaults too");
  show_it.callback(
      [&chosen, flags, flag] { chosen = [flags, flag] { return show(*flags, *flag); }; });

  CLI::App& list = cli::add_command(config, "reference", "Every key, with its default and meaning",
                                    {"recourse config reference > recourse.yaml"});
  list.add_flag("--markdown", *flag, "As tables for a page");
  list.callback([&chosen, flag] { chosen = [flag] { return reference(*flag); }; });
}

}  // namespace recourse::app
