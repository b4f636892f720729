// A store as its backend opened it: both faces of one database.
#pragma once

#include "store/reader.h"
#include "store/store.h"

namespace recourse::store {

class OpenedStore {
 public:
  virtual ~OpenedStore() = default;

  [[nodiscard]] virtual Store& store() = 0;
  [[nodiscard]] virtual Reader& reader() = 0;
};

}  // namespace recourse::store
