// libpq's handles, each with its owner.
#pragma once

#include <libpq-fe.h>

#include <memory>

namespace recourse::sql::postgres {

struct ConnectionDeleter {
  // Says goodbye without waiting: on a connection in non-blocking mode libpq does not block here.
  void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
};
using ConnectionHandle = std::unique_ptr<PGconn, ConnectionDeleter>;

struct ResultDeleter {
  void operator()(PGresult* result) const noexcept { PQclear(result); }
};
using ResultHandle = std::unique_ptr<PGresult, ResultDeleter>;

struct OptionsDeleter {
  void operator()(PQconninfoOption* options) const noexcept { PQconninfoFree(options); }
};
using OptionsHandle = std::unique_ptr<PQconninfoOption, OptionsDeleter>;

}  // namespace recourse::sql::postgres
