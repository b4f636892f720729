// Completion for shells, made from the tree of commands itself, so that it never lies.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace recourse::cli {

std::string bash_completion(const CLI::App& program);
std::string zsh_completion(const CLI::App& program);
std::string fish_completion(const CLI::App& program);

}  // namespace recourse::cli
