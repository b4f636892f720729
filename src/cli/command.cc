#include "cli/command.h"

#include <fmt/format.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <charconv>
#include <utility>

#include "base/text.h"

namespace recourse::cli {
namespace {

// People look for something to copy first. The examples are kept as the command's footer.
class ExamplesFirst final : public CLI::Formatter {
 public:
  ExamplesFirst() { column_width(34); }

  std::string make_description(const CLI::App* app) const override {
    std::string text = CLI::Formatter::make_description(app);
    const std::string examples = app->get_footer();
    if (!examples.empty()) text += "\n" + examples;
    return text + "\n";
  }
  std::string make_footer(const CLI::App*) const override { return {}; }
};

}  // namespace

void put_examples_first(CLI::App& program) { program.formatter(std::make_shared<ExamplesFirst>()); }

void refuse_empty_values(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_type_size() == 0) continue;
    option->check([](const std::string& value) {
      return value.empty() ? "must not be empty; leave it out where it does not matter"
                           : std::string();
    });
  }
}

std::function<std::string(const std::string&)> whole_number(int low, int high) {
  return [low, high](const std::string& text) {
    int number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
    if (is_whole && number >= low && number <= high) return std::string();
    return fmt::format("must be a whole number from {} to {}, not {}", low, high, shown(text));
  };
}

void set_examples(CLI::App& command, const std::vector<std::string>& examples) {
  std::string text;
  for (const std::string& example : examples) text += "  " + example + "\n";
  command.footer(text);
}

CLI::App& add_command(CLI::App& parent, const std::string& name, const std::string& about,
                      const std::vector<std::string>& examples) {
  CLI::App* command = parent.add_subcommand(name, about);
  set_examples(*command, examples);
  return *command;
}

CLI::App& add_group(CLI::App& parent, const std::string& name, const std::string& about,
                    const std::vector<std::string>& examples) {
  CLI::App& group = add_command(parent, name, about, examples);
  group.require_subcommand(1);
  return group;
}

void runs(CLI::App& command, const Tree& tree, ApiCommand run, TimeoutName timeout) {
  add_api_flags(command, *tree.flags, timeout);
  command.callback(
      [&chosen = tree.chosen, &terminal = tree.terminal, flags = tree.flags, run = std::move(run)] {
        chosen = [&terminal, flags, run] {
          Result<Session> session = Session::open(*flags, terminal);
          if (session) return static_cast<int>(run(*session));
          terminal.err << "recourse: " << session.error().message << '\n';
          return static_cast<int>(exit_code_of(session.error().code));
        };
      });
}

}  // namespace recourse::cli
