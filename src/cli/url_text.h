// Addresses of the API, put together from what people name.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace recourse::cli {

// RFC 3986: all but letters, digits and -._~ as %XX, so that a name stays one segment.
std::string percent_encoded(std::string_view text);

// ?a=1&b=2, encoded; empty without parameters.
std::string query_text(const std::vector<std::pair<std::string, std::string>>& parameters);

}  // namespace recourse::cli
