#include "cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace recourse::cli {
namespace {

struct Flag {
  std::string name;  // with its dashes
  std::string about;
  bool takes_value = false;
};

struct Node {
  std::string path;  // "task list"; empty for the program itself
  std::string about;
  std::vector<std::string> words;
  std::vector<Flag> flags;
};

std::vector<Flag> flags_of(const CLI::App& app) {
  std::vector<Flag> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      flags.push_back(
          {"--" + name, option->get_description(), option->get_items_expected_max() > 0});
    }
  }
  return flags;
}

void collect(const CLI::App& app, const std::string& path, std::vector<Node>& nodes) {
  Node node{.path = path, .about = app.get_description(), .words = {}, .flags = flags_of(app)};
  const auto subcommands = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* sub : subcommands) node.words.push_back(sub->get_name());
  nodes.push_back(std::move(node));
  for (const CLI::App* sub : subcommands) {
    collect(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name(), nodes);
  }
}

std::vector<Node> nodes_of(const CLI::App& program) {
  std::vector<Node> nodes;
  collect(program, "", nodes);
  return nodes;
}

std::vector<std::string> choices_of(const Node& node) {
  std::vector<std::string> choices = node.words;
  for (const Flag& flag : node.flags) choices.push_back(flag.name);
  return choices;
}

// In single quotes, for a shell.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

}  // namespace

// Words before the cursor that are commands lead to the node; its words and flags are the choices.
// After a flag that takes a value, files are offered.
std::string bash_completion(const CLI::App& program) {
  std::string paths;
  std::string cases;
  for (const Node& node : nodes_of(program)) {
    if (!node.path.empty()) paths += fmt::format("{}|", quoted(node.path));
    std::vector<std::string> values;
    for (const Flag& flag : node.flags) {
      if (flag.takes_value) values.push_back(flag.name);
    }
    cases += fmt::format("    {}) words={}; values={} ;;\n", quoted(node.path),
                         quoted(fmt::format("{}", fmt::join(choices_of(node), " "))),
                         quoted(fmt::format(" {} ", fmt::join(values, " "))));
  }
  if (!paths.empty()) paths.pop_back();
  return fmt::format(
      R"(# bash completion for recourse; use it with: source <(recourse completion bash)
_recourse() {{
  local path='' word next words values i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${{COMP_WORDS[i]}}
    next=${{path:+$path }}$word
    case $next in
      {}) path=$next ;;
    esac
  done
  case $path in
{}  esac
  COMPREPLY=()
  if [[ $COMP_CWORD -gt 1 && $values == *" ${{COMP_WORDS[COMP_CWORD-1]}} "* ]]; then return; fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}")
}}
complete -o bashdefault -o default -F _recourse recourse
)",
      paths, cases);
}

std::string zsh_completion(const CLI::App& program) {
  return "#compdef recourse\n"
         "# zsh completion for recourse; use it with: source <(recourse completion zsh)\n"
         "autoload -U +X bashcompinit && bashcompinit\n" +
         bash_completion(program);
}

std::string fish_completion(const CLI::App& program) {
  std::string text =
      "# fish completion for recourse; use it with: recourse completion fish | source\n"
      "function __recourse_words\n"
      "  string match -v -- '-*' (commandline -opc)[2..-1]\n"
      "end\n"
      "function __recourse_at\n"
      "  test (string join ' ' (__recourse_words)) = \"$argv\"\n"
      "end\n"
      "function __recourse_in\n"
      "  string match -q -- \"$argv *\" (string join ' ' (__recourse_words))' '\n"
      "end\n";
  for (const Node& node : nodes_of(program)) {
    if (!node.words.empty()) {
      text +=
          fmt::format("complete -c recourse -f -n {} -a {}\n", quoted("__recourse_at " + node.path),
                      quoted(fmt::format("{}", fmt::join(node.words, " "))));
    }
    const std::string in =
        quoted((node.words.empty() ? "__recourse_in " : "__recourse_at ") + node.path);
    for (const Flag& flag : node.flags) {
      text += fmt::format("complete -c recourse -n {} -l {} -d {}{}\n", in, flag.name.substr(2),
                          quoted(flag.about), flag.takes_value ? " -r" : "");
    }
  }
  return text;
}

}  // namespace recourse::cli
