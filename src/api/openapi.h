// The description of the API that clients are made from, as it was when the program was built.
#pragma once

#include <string_view>

namespace recourse::api {

std::string_view openapi_text();

}  // namespace recourse::api
