// Ids as people and other systems see them: `tsk_01J...`, a type and a ULID, so that an order's id
// pasted where a task's belongs is refused instead of not found.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/ulid.h"

namespace recourse {

struct PublicId {
  std::string type;  // 2 to 10 of a-z and 0-9
  Ulid id;

  friend auto operator<=>(const PublicId&, const PublicId&) = default;
};

// For resource types that come from outside. `field` names the input in the error.
Result<> check_id_type(std::string_view field, std::string_view type);

// At most 37 characters. The type must have passed check_id_type.
std::string to_string(const PublicId& id);

// Strict in both parts; the error names the field, quotes what was given and says what is wrong
// with it.
Result<PublicId> parse_public_id(std::string_view field, std::string_view text);

// For where only one type makes sense.
Result<Ulid> parse_public_id(std::string_view field, std::string_view text,
                             std::string_view expected_type);

}  // namespace recourse
