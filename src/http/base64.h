// Bytes where only text may stand: in JSON, in a header, in a secret.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace recourse::http {

std::string to_base64(std::string_view bytes);
// Empty where it is none. With its padding, without line breaks.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace recourse::http
