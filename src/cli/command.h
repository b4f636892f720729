// How commands are hung into the tree.
#pragma once

#include <CLI/App.hpp>
#include <boost/json.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/api_flags.h"
#include "cli/session.h"
#include "cli/terminal.h"

namespace recourse::cli {

// What the guards of a configuration see of their tables, as the API shows it: the one that is
// named, or all of them, each that fails with its `error` instead. The program's own: it may open
// databases, and nothing here does.
using GuardReports =
    std::function<Result<boost::json::array>(const std::string& config, const std::string& guard)>;

// Where commands come from and go to. `chosen` is what the program runs once all arguments are
// read.
struct Tree {
  CLI::App& program;
  Terminal& terminal;
  std::function<int()>& chosen;
  // Empty: only a server can be asked.
  GuardReports guard_reports = nullptr;
  std::shared_ptr<ApiFlags> flags = std::make_shared<ApiFlags>();
};

// Help begins with the examples, a line each.
CLI::App& add_command(CLI::App& parent, const std::string& name, const std::string& about,
                      const std::vector<std::string>& examples);
// One that needs a word more: `task`.
CLI::App& add_group(CLI::App& parent, const std::string& name, const std::string& about,
                    const std::vector<std::string>& examples);

using ApiCommand = std::function<ExitCode(Session&)>;
// Adds the flags of the server too.
void runs(CLI::App& command, const Tree& tree, ApiCommand run,
          TimeoutName timeout = TimeoutName::kShort);

// A check of an option: empty where the text is a whole number within, else what is wrong.
std::function<std::string(const std::string&)> whole_number(int low, int high);
// Of all options that were added so far and take a value: by such ones many are chosen, and an
// empty variable of a script must not mean all.
void refuse_empty_values(CLI::App& command);

void set_examples(CLI::App& command, const std::vector<std::string>& examples);
// To be called before anything is added.
void put_examples_first(CLI::App& program);

}  // namespace recourse::cli
