// What statements about keys of create calls share.
#pragma once

#include <string_view>

#include "store/creates.h"
#include "store/relational/values.h"

namespace recourse::store::relational {

// tenant, business, idem_key
void add_key(Values& values, const CreateKey& key);

// Only while the hold lasts.
inline constexpr std::string_view kMarkCreation =
    "UPDATE recourse_create SET state = ?, result_json = ?, is_cut = ?, error = ?"
    " WHERE tenant = ? AND business = ? AND idem_key = ? AND fence = ? AND state = 'processing'";
// Its values. They refer to what is given.
void add_mark(Values& values, const CreateHold& hold, const CreateEnd& end);

}  // namespace recourse::store::relational
