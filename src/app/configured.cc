#include "app/configured.h"

#include <unistd.h>

#include <iostream>
#include <utility>
#include <vector>

#include "app/guard_door.h"
#include "app/kinds.h"
#include "app/message_door.h"
#include "app/notifications.h"

namespace recourse::app {

void add_config_flags(CLI::App& command, ConfigFlags& flags) {
  command.add_option("-c,--config", flags.file, "A YAML file (default: $RECOURSE_CONFIG, or none)")
      ->type_name("FILE");
  command
      .add_option("--store", flags.store,
                  "sqlite:FILE, postgres://USER@HOST/DATABASE or mysql://USER@HOST/DATABASE")
      ->type_name("URL");
  command.add_option("--listen", flags.listen, "HOST:PORT (default: 127.0.0.1:7070)")
      ->type_name("ADDRESS");
  command.add_option("--set", flags.set, "One more setting, such as --set log.level=debug")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

Environment environment_of_process() {
  Environment environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view pair = *entry;
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    environment.emplace(pair.substr(0, equals), pair.substr(equals + 1));
  }
  return environment;
}

Loaded load_flags(const ConfigFlags& flags, const Environment& environment) {
  std::string file = flags.file;
  if (const auto named = environment.find("RECOURSE_CONFIG");
      file.empty() && named != environment.end()) {
    file = named->second;
  }
  std::vector<std::string> settings = flags.set;
  if (!flags.store.empty()) settings.push_back("store.url=" + flags.store);
  if (!flags.listen.empty()) settings.push_back("server.listen=" + flags.listen);
  return load_config(file, environment, std::move(settings));
}

std::optional<Config> load_or_complain(const ConfigFlags& flags, const Environment& environment) {
  Loaded loaded = load_flags(flags, environment);
  for (const Problem& problem : loaded.problems) std::cerr << to_string(problem) << '\n';
  if (!loaded.config) return std::nullopt;
  Result<> valid = check_kinds(*loaded.config, environment);
  if (valid) valid = check_guards(*loaded.config);
  NullLog unheard;
  if (valid) valid = check_sources(*loaded.config, unheard);
  if (valid) valid = check_notify(loaded.config->notify);
  if (!valid) {
    std::cerr << "error: " << valid.error().message << '\n';
    return std::nullopt;
  }
  return std::move(loaded.config);
}

}  // namespace recourse::app
