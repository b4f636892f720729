// A store as its backend opened it: the faces of one database.
#pragma once

#include <memory>

#include "store/cases.h"
#include "store/creates.h"
#include "store/hints.h"
#include "store/inbox.h"
#include "store/reader.h"
#include "store/records.h"
#include "store/store.h"

namespace recourse::store {

class OpenedStore {
 public:
  virtual ~OpenedStore() = default;

  [[nodiscard]] virtual Store& store() = 0;
  [[nodiscard]] virtual Reader& reader() = 0;
  [[nodiscard]] virtual Records& records() = 0;
  [[nodiscard]] virtual Cases& cases() = 0;
  [[nodiscard]] virtual Creates& creates() = 0;
  [[nodiscard]] virtual Inbox& inbox() = 0;
  // Empty where the database carries none. `heard` is called on a thread of the store's.
  virtual std::unique_ptr<Hints> hints(const Hints::Heard& /*heard*/) { return nullptr; }
};

}  // namespace recourse::store
