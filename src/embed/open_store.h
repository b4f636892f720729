// The store that a URL names, with what must live as long as it.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "store/opened.h"
#include "store/retention.h"

namespace recourse::embed {

struct NamedStore {
  std::unique_ptr<store::OpenedStore> opened;
  // Only this process can have it.
  bool exclusive = false;
};

// sqlite:FILE, postgres://..., mysql://..., memory:. `connections` is for the engine's own calls,
// on servers. The clock and the log must outlive the store.
Result<NamedStore> open_store(const std::string& url, const Clock& clock, Log& log,
                              std::size_t connections, store::Retention retention = {});

}  // namespace recourse::embed
