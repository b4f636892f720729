// Words of SQLite. The machine's clock is the database's.
#pragma once

#include "guard/dialect.h"

namespace recourse::guard::sqlite {

const Dialect& dialect();

}  // namespace recourse::guard::sqlite
