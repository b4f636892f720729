#include "app/usage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "app/config/suggest.h"
#include "base/text.h"

namespace recourse::app {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(app)) names.push_back(command->get_name());
  return names;
}

// How far the words lead into the tree.
struct Reached {
  const CLI::App* app;
  std::string path = "recourse";
  // The first that leads nowhere, where a command was expected.
  std::optional<std::string> lost = std::nullopt;
  // A flag in front of the command that it belongs to.
  std::optional<std::string> early_flag = std::nullopt;
};

Reached follow(const CLI::App& program, const std::vector<std::string>& arguments) {
  Reached reached{.app = &program};
  for (const std::string& word : arguments) {
    const auto commands = commands_of(*reached.app);
    if (commands.empty()) break;
    if (word.starts_with('-')) {
      reached.early_flag = word.substr(0, word.find('='));
      break;
    }
    const auto next = std::ranges::find(commands, word, &CLI::App::get_name);
    if (next == commands.end()) {
      reached.lost = word;
      break;
    }
    reached.app = *next;
    reached.path += " " + word;
  }
  return reached;
}

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

std::string meant(const std::string& prefix, const std::string& word,
                  const std::vector<std::string>& known) {
  const auto near = nearest(word, known);
  return near ? fmt::format("; did you mean `{}{}`?", prefix, *near) : std::string();
}

std::optional<std::string> unknown_flag(const Reached& reached,
                                        const std::vector<std::string>& arguments) {
  const std::vector<std::string> known = flags_of(*reached.app);
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    const std::string name = argument.substr(0, argument.find('='));
    if (!name.starts_with("--") || std::ranges::find(known, name) != known.end()) continue;
    if (name == "--token") {
      return "a token on the command line can be seen by everybody on this machine: set "
             "RECOURSE_TOKEN, or name a file with --token-file";
    }
    if (name == "--port") return "\"--port\" is no flag: write --listen 127.0.0.1:PORT";
    return fmt::format("{} is no flag of `{}`{}", shown(name), reached.path,
                       meant("", name, known));
  }
  return std::nullopt;
}

// A file that stands alone where a flag would take it.
std::string file_flag(const Reached& reached, const std::vector<std::string>& arguments) {
  const std::vector<std::string> known = flags_of(*reached.app);
  const auto is_file = [](const std::string& word) {
    return !word.starts_with('-') && (word.ends_with(".yaml") || word.ends_with(".yml"));
  };
  const auto file = std::ranges::find_if(arguments, is_file);
  if (file == arguments.end() || std::ranges::find(known, "--config") == known.end()) return "";
  return fmt::format("; did you mean `--config {}`?", *file);
}

}  // namespace

std::string usage_text(const CLI::App& program, const std::vector<std::string>& arguments,
                       const std::string& error) {
  const Reached reached = follow(program, arguments);
  const std::vector<std::string> names = names_of(*reached.app);
  const std::string see = fmt::format("\nSee: {} --help", reached.path);
  if (reached.early_flag && *reached.early_flag != "--token") {
    return fmt::format(
        "{} is no flag of `{}`; flags stand behind the command, as in `recourse task "
        "list --json`{}",
        shown(*reached.early_flag), reached.path, see);
  }
  if (reached.lost) {
    return fmt::format("{} has no command {}{}\nThere are: {}{}", reached.path,
                       shown(*reached.lost), meant(reached.path + " ", *reached.lost, names),
                       fmt::join(names, ", "), see);
  }
  if (const auto flag = unknown_flag(reached, arguments)) return *flag + see;
  if (!names.empty()) {
    return fmt::format("{} needs one word more: {}{}", reached.path, fmt::join(names, ", "), see);
  }
  return error + file_flag(reached, arguments) + see;
}

}  // namespace recourse::app
