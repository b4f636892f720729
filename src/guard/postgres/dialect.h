// Words of PostgreSQL.
#pragma once

#include "guard/dialect.h"

namespace recourse::guard::postgres {

const Dialect& dialect();

}  // namespace recourse::guard::postgres
