#include "sql/mysql/errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/text.h"

namespace recourse::sql::mysql {

namespace {

constexpr std::size_t kMessageCharactersMax = 500;

struct Known {
  unsigned int number;
  ErrorCode code;
  std::string_view advice = {};
};

constexpr std::string_view kDiskFull = "make room on the database's disk";
constexpr std::string_view kReadOnly =
    "this server takes no writes: connect to the primary, or switch read_only off";
constexpr std::string_view kNoRight = "GRANT the right to this user";
constexpr std::string_view kSchema = "the schema is not the one this program made: migrate it";
constexpr std::string_view kDamaged = "stop, and check the table with CHECK TABLE";
constexpr std::string_view kTooSlow = "the statement ran into the server's time limit";

// By number. What is not here: a client's number or one of the operating system is kUnavailable,
// any other of a server kInvalid.
constexpr std::array kKnown{
    Known{1020, ErrorCode::kConflict},  // record has changed since last read
    Known{1021, ErrorCode::kUnavailable, kDiskFull},
    Known{1026, ErrorCode::kUnavailable, kDiskFull},
    Known{1030, ErrorCode::kUnavailable},  // got error ... from storage engine
    Known{1032, ErrorCode::kCorrupt, kDamaged},
    Known{1033, ErrorCode::kCorrupt, kDamaged},
    Known{1034, ErrorCode::kCorrupt, kDamaged},
    Known{1035, ErrorCode::kCorrupt, kDamaged},
    Known{1036, ErrorCode::kUnavailable, kReadOnly},
    Known{1037, ErrorCode::kUnavailable, "the server is out of memory"},
    Known{1038, ErrorCode::kUnavailable, "the server is out of sort memory"},
    Known{1040, ErrorCode::kUnavailable, "raise max_connections, or use fewer connections"},
    Known{1041, ErrorCode::kUnavailable, "the server is out of memory"},
    Known{1044, ErrorCode::kInvalid, "GRANT this user rights on the database"},
    Known{1045, ErrorCode::kInvalid, "check user and password in the database URL"},
    Known{1046, ErrorCode::kInvalid, "name the database in the URL"},
    Known{1047, ErrorCode::kUnavailable},  // a Galera node that is not part of the cluster
    Known{1049, ErrorCode::kInvalid, "CREATE DATABASE first, or correct the name in the URL"},
    Known{1053, ErrorCode::kUnavailable},  // the server shuts down
    Known{1054, ErrorCode::kInvalid, kSchema},
    Known{1062, ErrorCode::kConflict},  // somebody else inserted this key first
    Known{1114, ErrorCode::kUnavailable, kDiskFull},
    Known{1129, ErrorCode::kUnavailable, "the server blocks this host: FLUSH HOSTS there"},
    Known{1130, ErrorCode::kInvalid, "the server admits no user from this host"},
    Known{1135, ErrorCode::kUnavailable},  // no thread for the connection
    Known{1142, ErrorCode::kInvalid, kNoRight},
    Known{1143, ErrorCode::kInvalid, kNoRight},
    Known{1146, ErrorCode::kInvalid, kSchema},
    Known{1152, ErrorCode::kUnavailable},
    Known{1153, ErrorCode::kInvalid, "raise the server's max_allowed_packet"},
    Known{1158, ErrorCode::kUnavailable},
    Known{1159, ErrorCode::kUnavailable},
    Known{1160, ErrorCode::kUnavailable},
    Known{1161, ErrorCode::kUnavailable},
    Known{1180, ErrorCode::kUnavailable},  // error during COMMIT
    Known{1184, ErrorCode::kUnavailable},
    Known{1194, ErrorCode::kCorrupt, kDamaged},
    Known{1195, ErrorCode::kCorrupt, kDamaged},
    Known{1203, ErrorCode::kUnavailable, "raise max_user_connections, or use fewer connections"},
    Known{1205, ErrorCode::kExhausted},    // another transaction held the lock for too long
    Known{1206, ErrorCode::kUnavailable},  // no room for more locks
    Known{1213, ErrorCode::kConflict},     // deadlock
    Known{1226, ErrorCode::kUnavailable, "raise this user's limits"},
    Known{1227, ErrorCode::kInvalid, kNoRight},
    Known{1290, ErrorCode::kUnavailable, kReadOnly},
    Known{1297, ErrorCode::kUnavailable},
    Known{1317, ErrorCode::kUnavailable},  // somebody stopped the statement
    Known{1412, ErrorCode::kConflict},     // the table was changed during the transaction
    Known{1461, ErrorCode::kUnavailable, "raise max_prepared_stmt_count"},
    Known{1615, ErrorCode::kConflict},  // the table was changed: prepare again
    Known{1637, ErrorCode::kUnavailable},
    Known{1698, ErrorCode::kInvalid, "check user and password in the database URL"},
    Known{1712, ErrorCode::kCorrupt, kDamaged},
    Known{1792, ErrorCode::kUnavailable, kReadOnly},
    Known{1836, ErrorCode::kUnavailable, kReadOnly},
    Known{1877, ErrorCode::kCorrupt, kDamaged},
    Known{1927, ErrorCode::kUnavailable},  // somebody killed the connection
    Known{1932, ErrorCode::kCorrupt, kDamaged},
    Known{1969, ErrorCode::kUnavailable, kTooSlow},
    Known{2002, ErrorCode::kUnavailable, "is the server running, and is this where it listens?"},
    Known{2003, ErrorCode::kUnavailable, "is the server running, and is this where it listens?"},
    Known{2005, ErrorCode::kUnavailable, "check the host in the database URL"},
    Known{2026, ErrorCode::kUnavailable, "check the server's certificate and tls_ca"},
    Known{2059, ErrorCode::kInvalid, "use a password the client knows: mysql_native_password"},
    Known{3024, ErrorCode::kUnavailable, kTooSlow},
    Known{3572, ErrorCode::kExhausted},
    Known{4031, ErrorCode::kUnavailable},  // the server closed an idle connection
};
static_assert(std::ranges::is_sorted(kKnown, {}, &Known::number));

constexpr bool is_of_client(unsigned int number) {
  return (number >= 2000 && number < 3000) || (number >= 5000 && number < 6000);
}

constexpr Known look_up(unsigned int number) {
  const auto found = std::ranges::lower_bound(kKnown, number, {}, &Known::number);
  if (found != kKnown.end() && found->number == number) return *found;
  const bool is_outside = is_of_client(number) || number < 1000;
  return {number, is_outside ? ErrorCode::kUnavailable : ErrorCode::kInvalid};
}

static_assert(look_up(1213).code == ErrorCode::kConflict);
static_assert(look_up(1062).code == ErrorCode::kConflict, "somebody else was first");
static_assert(look_up(2013).code == ErrorCode::kUnavailable);
static_assert(look_up(3).code == ErrorCode::kUnavailable, "a failed write of a file");

}  // namespace

Error translate(unsigned int number, std::string_view message) {
  const Known known = look_up(number);
  std::string text =
      fmt::format("database error {}: {}", number, clean_text(message, kMessageCharactersMax));
  if (!known.advice.empty()) text += fmt::format(" ({})", known.advice);
  return {known.code, std::move(text)};
}

bool ends_connection(unsigned int number) {
  constexpr std::array kFinal{1053U, 1152U, 1153U, 1158U, 1159U, 1160U, 1161U, 1184U, 1927U, 4031U};
  return is_of_client(number) || std::ranges::find(kFinal, number) != kFinal.end();
}

bool leaves_commit_open(unsigned int number) {
  return ends_connection(number) || number == 1180 || number == 1317 || number == 1969;
}

}  // namespace recourse::sql::mysql
