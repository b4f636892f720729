// A result set of the C library, freed by whoever lets go of it.
#pragma once

#include <mysql.h>

#include <memory>

namespace recourse::sql::mysql {

struct ResultFreer {
  void operator()(MYSQL_RES* result) const noexcept { mysql_free_result(result); }
};
using ResultHandle = std::unique_ptr<MYSQL_RES, ResultFreer>;

}  // namespace recourse::sql::mysql
