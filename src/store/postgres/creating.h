// Taking a new key in one statement, outside of a transaction.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "sql/connection.h"
#include "store/creates.h"

namespace recourse::store::postgres {

// When the taking of a key has to be on disk.
enum class Flush : std::uint8_t {
  kAtOnce,
  // With the commit of what is created, on the same server: where the machine dies before, neither
  // is there.
  kWithWork,
};

// Empty: the key is there. One round trip.
Result<std::optional<Creation>> insert_creation(sql::Connection& connection, const CreateAsk& ask,
                                                Flush flush);

}  // namespace recourse::store::postgres
