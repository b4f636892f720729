// Bytes inside JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace recourse::api {

std::string to_base64(std::string_view bytes);
// Empty where it is none. With its padding, without line breaks.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace recourse::api
