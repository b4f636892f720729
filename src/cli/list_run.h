// Lists: pages of tasks, from `task list` and `dead list`, and whole ones of what is few.
#pragma once

#include <CLI/App.hpp>
#include <boost/json.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "cli/filter_flags.h"
#include "cli/session.h"
#include "cli/table.h"

namespace recourse::cli {

struct ListFlags {
  FilterFlags filter = {};
  // Beside the filter's.
  Parameters more = {};
  int limit = 50;
  bool all = false;
};

void add_page_flags(CLI::App& command, ListFlags& flags);

// `nothing` is said where there is none.
ExitCode list_tasks(Session& session, const std::string& path, const ListFlags& flags,
                    std::string_view nothing);

// The same of other things than tasks.
ExitCode list_pages(Session& session, const std::string& path, const ListFlags& flags,
                    Table (*table_of)(const boost::json::array& items, TimePoint now),
                    std::string_view nothing);

// Few enough for one answer: as JSON, as ids (names where there are none), or as the table that
// `add` fills with each.
ExitCode list_few(Session& session, const std::string& path, Table table,
                  const std::function<void(const boost::json::object&, Table&)>& add,
                  std::string_view nothing = {});

}  // namespace recourse::cli
