// Pages of tasks, from `task list` and `dead list`.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "cli/filter_flags.h"
#include "cli/session.h"

namespace recourse::cli {

struct ListFlags {
  FilterFlags filter = {};
  int limit = 50;
  bool all = false;
};

void add_page_flags(CLI::App& command, ListFlags& flags);

// `nothing` is said where there is none.
ExitCode list_tasks(Session& session, const std::string& path, const ListFlags& flags,
                    std::string_view nothing);

}  // namespace recourse::cli
