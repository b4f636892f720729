// completion bash, zsh, fish.
#include "cli/commands.h"
#include "cli/completion.h"

namespace recourse::cli {
namespace {

void add_shell(CLI::App& group, const Tree& tree, const std::string& shell,
               const std::string& example, std::string (*make)(const CLI::App&)) {
  CLI::App& command = add_command(group, shell, "For " + shell, {example});
  command.callback(
      [&tree_chosen = tree.chosen, &terminal = tree.terminal, &program = tree.program, make] {
        tree_chosen = [&terminal, &program, make] {
          terminal.out << make(program);
          return 0;
        };
      });
}

}  // namespace

void add_completion_command(const Tree& tree) {
  CLI::App& group =
      add_group(tree.program, "completion", "Let the shell complete commands and flags",
                {"source <(recourse completion bash)", "recourse completion fish | source"});
  add_shell(group, tree, "bash", "source <(recourse completion bash)", bash_completion);
  add_shell(group, tree, "zsh", "source <(recourse completion zsh)", zsh_completion);
  add_shell(group, tree, "fish", "recourse completion fish | source", fish_completion);
}

}  // namespace recourse::cli
