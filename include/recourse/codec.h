// From a value to payload bytes and back. Specialise it for your types, or include recourse/json.h,
// which does so for everything nlohmann-json can convert.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "recourse/result.h"

namespace recourse {

// encode: T -> std::string; decode: std::string_view -> Result<T>. Both may throw. A value that
// does not encode is refused at submit; a payload that does not decode ends its task with the code
// SERDE_ERROR, in front of a person.
template <class T>
struct Codec;

// What a codec throws is an error like any other.
template <class T>
Result<std::string> encode_payload(const T& value) {
  try {
    return Codec<T>::encode(value);
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInvalid, std::string("the payload cannot be encoded: ") + error.what());
  }
}
template <class T>
Result<T> decode_payload(std::string_view bytes) {
  try {
    return Codec<T>::decode(bytes);
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInvalid, error.what());
  }
}

template <>
struct Codec<std::string> {
  static std::string encode(std::string value) { return value; }
  static Result<std::string> decode(std::string_view bytes) { return std::string(bytes); }
};

}  // namespace recourse
