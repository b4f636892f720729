// Errors are values. A function that can fail returns a Result; ignoring one is a warning.
//
//   auto engine = recourse::Engine::open(options);
//   if (!engine) return report(engine.error().message);
#pragma once

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

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

// What value() throws where there is none.
class NoValue : public std::runtime_error {
 public:
  explicit NoValue(const Error& error) : std::runtime_error(error.message), code(error.code) {}

  ErrorCode code;
};

// An error on its way into a Result of any type.
struct Unexpected {
  Error error;
};

inline Unexpected fail(Error error) { return {std::move(error)}; }
inline Unexpected fail(ErrorCode code, std::string message) {
  return {Error{code, std::move(message)}};
}

// A value or an error. Read it with a plain `if (!result)`. Values and errors become one without a
// word, so that `return value;` and `return fail(...);` read as they should.
// NOLINTBEGIN(google-explicit-constructor)
template <class T = void>
class [[nodiscard]] Result {
 public:
  Result() = default;
  Result(Unexpected unexpected) : content_(std::in_place_index<1>, std::move(unexpected.error)) {}
  template <class U = T>
    requires(std::is_constructible_v<T, U &&> && !std::is_same_v<std::remove_cvref_t<U>, Result> &&
             !std::is_same_v<std::remove_cvref_t<U>, Unexpected>)
  explicit(!std::is_convertible_v<U&&, T>) Result(U&& value)
      : content_(std::in_place_index<0>, std::forward<U>(value)) {}
  template <class U>
    requires(!std::is_same_v<U, T> && std::is_convertible_v<U &&, T>)
  Result(Result<U>&& other) {
    if (other) {
      content_.template emplace<0>(*std::move(other));
    } else {
      content_.template emplace<1>(std::move(other).error());
    }
  }

  [[nodiscard]] bool has_value() const noexcept { return content_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  // Only where there is one.
  T& operator*() & { return *std::get_if<0>(&content_); }
  const T& operator*() const& { return *std::get_if<0>(&content_); }
  T&& operator*() && { return std::move(*std::get_if<0>(&content_)); }
  T* operator->() { return std::get_if<0>(&content_); }
  const T* operator->() const { return std::get_if<0>(&content_); }
  Error& error() & { return *std::get_if<1>(&content_); }
  const Error& error() const& { return *std::get_if<1>(&content_); }
  Error&& error() && { return std::move(*std::get_if<1>(&content_)); }

  // Throws NoValue where there is none.
  T& value() & {
    check();
    return **this;
  }
  const T& value() const& {
    check();
    return **this;
  }
  T&& value() && {
    check();
    return *std::move(*this);
  }
  template <class U>
  T value_or(U&& otherwise) const& {
    return has_value() ? **this : static_cast<T>(std::forward<U>(otherwise));
  }

  friend bool operator==(const Result&, const Result&) = default;

 private:
  void check() const {
    if (!has_value()) throw NoValue(error());
  }

  std::variant<T, Error> content_;
};

// Nothing, or an error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Unexpected unexpected) : error_(std::move(unexpected.error)), failed_(true) {}

  [[nodiscard]] bool has_value() const noexcept { return !failed_; }
  explicit operator bool() const noexcept { return has_value(); }
  Error& error() & { return error_; }
  const Error& error() const& { return error_; }
  Error&& error() && { return std::move(error_); }
  void value() const {
    if (failed_) throw NoValue(error_);
  }

  friend bool operator==(const Result&, const Result&) = default;

 private:
  Error error_{ErrorCode::kInvalid, {}};
  bool failed_ = false;
};

// NOLINTEND(google-explicit-constructor)

}  // namespace recourse
