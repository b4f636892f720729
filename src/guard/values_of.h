// Texts from settings, users and URLs, as a column's type has them.
#pragma once

#include <string>

#include "base/result.h"
#include "guard/layout.h"
#include "guard/row.h"

namespace recourse::guard {

// kInvalid: no value of such a column can be that.
Result<RowId> value_of(const Column& column, const std::string& text);

}  // namespace recourse::guard
