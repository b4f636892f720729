// What is wrong with a command line, and what was meant.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace recourse::app {

// `arguments` without the program's name; `error` is what the parser made of them.
std::string usage_text(const CLI::App& program, const std::vector<std::string>& arguments,
                       const std::string& error);

}  // namespace recourse::app
