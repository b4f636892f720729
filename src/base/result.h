// Errors are values. A function that can fail returns a Result; ignoring one is a warning, and here
// every warning is an error. Read it with a plain `if (!result)`; tl::expected's chaining is not
// carried over.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace recourse {

// Named by what the caller should do, not by what went wrong.
enum class ErrorCode : std::uint8_t {
  kInvalid,      // the request can never work as it stands: correct it
  kNotFound,     // there is no such thing: tell the user
  kConflict,     // somebody else changed it first: reload and decide again
  kExhausted,    // a bound is reached: come back when there is room
  kUnavailable,  // the other side did not answer: try again later
  kInDoubt,      // it may or may not have happened: ask again under the same id
  kCorrupt,      // stored data breaks an invariant: stop and tell a person
};

constexpr std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid: return "invalid";
    case ErrorCode::kNotFound: return "not_found";
    case ErrorCode::kConflict: return "conflict";
    case ErrorCode::kExhausted: return "exhausted";
    case ErrorCode::kUnavailable: return "unavailable";
    case ErrorCode::kInDoubt: return "in_doubt";
    case ErrorCode::kCorrupt: return "corrupt";
  }
  std::abort();
}

struct Error {
  ErrorCode code;
  std::string message;  // for people; no code reads it

  friend bool operator==(const Error&, const Error&) = default;
};

// Derived, not aliased: tl::expected itself is not [[nodiscard]].
template <class T = void>
struct [[nodiscard]] Result : tl::expected<T, Error> {
  using tl::expected<T, Error>::expected;
};

inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return fail(Error{code, std::move(message)});
}

}  // namespace recourse
