// Settings and requests are checked once, at the door. A refusal names the field, says what is
// allowed and what was given, and names every bad field at once, not one per try.
#pragma once

#include <fmt/format.h>

#include <source_location>
#include <string>
#include <string_view>

#include "base/duration_text.h"
#include "base/invariant.h"
#include "base/result.h"
#include "base/time.h"

namespace recourse {

class FieldChecks {
 public:
  // `subject` goes before every field: "breaker" makes "breaker.probes".
  explicit FieldChecks(std::string_view subject) : subject_(subject) {}

  template <class T>
  FieldChecks& between(std::string_view field, const T& value, const T& low, const T& high) {
    // Written so that a NaN is refused too.
    if (value >= low && value <= high) return *this;
    return add(field, fmt::format("must be between {} and {}, not {}", text(low), text(high),
                                  text(value)));
  }

  FieldChecks& require(bool holds, std::string_view field, std::string_view must) {
    return holds ? *this : add(field, must);
  }

  [[nodiscard]] Result<> result() const;

 private:
  static std::string text(Duration value) { return format_duration(value); }
  template <class T>
  static std::string text(const T& value) {
    return fmt::format("{}", value);
  }

  FieldChecks& add(std::string_view field, std::string_view complaint);

  std::string subject_;
  std::string complaints_;
};

// For constructors: what the door has validated is only relied upon.
template <class Settings>
const Settings& checked(const Settings& settings,
                        std::source_location where = std::source_location::current()) {
  if (const Result<> valid = validate(settings); !valid) {
    invariant_broken("settings are validated before they get here: " + valid.error().message,
                     where);
  }
  return settings;
}

}  // namespace recourse
