// Where the members of a JSON text lie, so that a payload can be kept byte by byte as it was sent:
// a parser would round its big numbers.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace recourse::api {

// Both are for texts that a parser has accepted before. Views into the text.
// The value of a member, without the spaces around it; the last where it is there twice, as parsers
// take it. `name` is one of ours, and is found however the text escapes it.
std::optional<std::string_view> member_of(std::string_view object, std::string_view name);
std::vector<std::string_view> elements_of(std::string_view array);

}  // namespace recourse::api
