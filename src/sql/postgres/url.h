// A look at the URL before libpq gets it: its own complaints quote the text, and so the password.
#pragma once

#include <string>

#include "base/result.h"

namespace recourse::sql::postgres {

// kInvalid with what to correct, in words that repeat nothing of the URL.
Result<> check_url(const std::string& url);

}  // namespace recourse::sql::postgres
