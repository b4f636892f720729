// The guarded table that a guard's database and settings name.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "guard/table.h"
#include "store/opened.h"

namespace recourse::embed {

// The store, and what it was opened with. It must outlive the tables.
struct OwnStore {
  const std::string& url;
  store::OpenedStore& opened;
};

// Of the engine's own store where `database` is empty or names the same file. Tables of one
// database share its connections.
Result<std::unique_ptr<guard::GuardedTable>> open_guarded(guard::Databases& databases,
                                                          const std::string& database,
                                                          const OwnStore& own,
                                                          const guard::GuardSettings& settings,
                                                          Duration within);

}  // namespace recourse::embed
