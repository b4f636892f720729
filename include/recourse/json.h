// Typed payloads as JSON, for types that nlohmann-json can convert (to_json and from_json, or
// NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE). Opting in is including this header.
#pragma once

#include <concepts>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "recourse/codec.h"

namespace recourse {

template <class T>
concept JsonPayload = !std::same_as<T, std::string> && requires(const nlohmann::json& in, T& out) {
  nlohmann::json(out);
  in.get_to(out);
};

template <JsonPayload T>
struct Codec<T> {
  static std::string encode(const T& value) { return nlohmann::json(value).dump(); }
  static Result<T> decode(std::string_view bytes) {
    T value;
    nlohmann::json::parse(bytes).get_to(value);
    return value;
  }
};

}  // namespace recourse
