// Words of MariaDB and MySQL.
#pragma once

#include "guard/dialect.h"

namespace recourse::guard::mysql {

const Dialect& dialect();

}  // namespace recourse::guard::mysql
