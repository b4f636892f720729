// The guarded table that a guard's database and settings name.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "guard/table.h"
#include "store/opened.h"

namespace recourse::embed {

// The store, and what it was opened with. It must outlive the tables.
struct OwnStore {
  const std::string& url;
  store::OpenedStore& opened;
};

struct Guarded {
  // Empty, or the same file: the engine's own store.
  std::string database;
  guard::GuardSettings settings;
};

// What may still be needed when the table is opened later than its guard; it outlives the table.
struct GuardedParts {
  // Tables of one database share its connections.
  std::shared_ptr<guard::Databases> databases;
  OwnStore own;
  const Clock& clock;
  Log& log;
  // Of complaints: names of settings as whoever reads them knows them.
  std::string (*in_words)(std::string) = nullptr;
};

// The table, with the columns that it missed. Where its database does not answer, or
// somebody has the file locked, that is logged and the guard begins without it: its scans open it.
Result<std::unique_ptr<guard::GuardedTable>> open_guarded(const Guarded& guarded,
                                                          const GuardedParts& parts);

// Where it is, in one spelling.
std::string place_of_guarded(const std::string& database, const std::string& own_url);

}  // namespace recourse::embed
