// From a value to payload bytes and back. Specialise it for your types, or include recourse/json.h,
// which does so for everything nlohmann-json can convert.
#pragma once

#include <string>
#include <string_view>

#include "recourse/result.h"

namespace recourse {

// encode: T -> std::string; decode: std::string_view -> Result<T>. A payload that does not decode
// ends its task with the code SERDE_ERROR, in front of a person.
template <class T>
struct Codec;

template <>
struct Codec<std::string> {
  static std::string encode(std::string value) { return value; }
  static Result<std::string> decode(std::string_view bytes) { return std::string(bytes); }
};

}  // namespace recourse
