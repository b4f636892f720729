// The embedded default: a SQLite file.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "store/opened.h"
#include "store/retention.h"

namespace recourse::store::sqlite {

// Creates the file where it is missing and brings it to this program's schema. The clock is the
// store's clock; it must outlive the store.
Result<std::unique_ptr<OpenedStore>> open(const std::string& path, const Clock& clock,
                                          Retention retention = {});

}  // namespace recourse::store::sqlite
