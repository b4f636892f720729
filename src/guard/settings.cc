#include "guard/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/field_checks.h"
#include "base/text.h"
#include "guard/columns.h"

namespace recourse::guard {
namespace {

constexpr std::size_t kNameBytesMax = 63;
constexpr std::size_t kTextBytesMax = 255;
constexpr std::string_view kIdentifierRule =
    "must be a name of letters, digits and underscores, of at most 63, that begins with no digit";

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kNameBytesMax && std::ranges::all_of(text, [](char c) {
    return is_letter(c) || is_digit(c) || c == '-' || c == '.';
  });
}

bool is_value(std::string_view text) {
  return !text.empty() && text.size() <= kTextBytesMax && is_plain_text(text);
}

// Columns keep whole seconds.
bool is_whole(Duration duration) {
  return duration == std::chrono::floor<std::chrono::seconds>(duration);
}

void check_fields(FieldChecks& checks, const GuardSettings& settings) {
  constexpr std::string_view kOwn = "must not be one of the guard's own columns (err_...)";
  checks.require(is_identifier(settings.table), "table", kIdentifierRule)
      .require(is_identifier(settings.id_field), "id_field", kIdentifierRule)
      .require(is_identifier(settings.status_field), "status_field", kIdentifierRule)
      .require(settings.user_field.empty() || is_identifier(settings.user_field), "user_field",
               kIdentifierRule)
      .require(!is_guard_column(settings.id_field), "id_field", kOwn)
      .require(!is_guard_column(settings.status_field), "status_field", kOwn)
      .require(!is_guard_column(settings.user_field), "user_field", kOwn)
      .require(settings.status_field != settings.id_field, "status_field",
               "must be another column than id_field")
      .require(settings.user_field != settings.id_field, "user_field",
               "must be another column than id_field: marking a row writes its user there")
      .require(settings.user_field != settings.status_field, "user_field",
               "must be another column than status_field: marking a row writes its user there")
      .require(is_value(settings.success_value), "success_value",
               "must be text of 1 to 255 bytes without control characters")
      .require(is_value(settings.fail_value), "fail_value",
               "must be text of 1 to 255 bytes without control characters")
      .require(settings.success_value != settings.fail_value, "fail_value",
               "must be another one than success_value");
}

void check_patience(FieldChecks& checks, const GuardSettings& settings) {
  using std::chrono::hours;
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  constexpr Duration kShortest = seconds(1);
  constexpr std::string_view kWhole = "must be whole seconds, because that is what the table keeps";
  checks.between("min_interval", settings.min_interval, kShortest, kLongestWait)
      .between("timeout_window", settings.timeout_window, kShortest, kLongestWait)
      .between("max_retries", settings.max_retries, 0, 1'000)
      .between("remind_every", settings.remind_every, kShortest, kLongestWait)
      .between("scan_every", settings.scan_every, Duration(milliseconds(10)), Duration(hours(24)))
      .between("attempt_timeout", settings.attempt_timeout, Duration(milliseconds(1)),
               Duration(hours(24)))
      .require(is_whole(settings.min_interval), "min_interval", kWhole)
      .require(is_whole(settings.timeout_window), "timeout_window", kWhole);
}

}  // namespace

bool is_identifier(std::string_view text) {
  return !text.empty() && text.size() <= kNameBytesMax && is_letter(text.front()) &&
         std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c); });
}

GuardSettings named(GuardSettings settings) {
  if (settings.name.empty()) settings.name = settings.table;
  if (settings.service_name.empty()) settings.service_name = settings.name;
  return settings;
}

bool may_share_table(const GuardSettings& one, const GuardSettings& other) {
  return one.status_field == other.status_field && one.success_value == other.success_value &&
         one.fail_value != other.fail_value;
}

Result<> check_neighbours(const GuardSettings& one, const GuardSettings& other) {
  if (one.table != other.table || may_share_table(one, other)) return {};
  return fail(ErrorCode::kInvalid,
              fmt::format("{} and {} guard the same table {}, whose err_ columns have room for one "
                          "error of a row: keep one of them; several may stand on one table where "
                          "they are alike in status_field and success_value and differ in "
                          "fail_value",
                          shown(one.name), shown(other.name), shown(one.table)));
}

Result<> validate(const GuardSettings& settings) {
  FieldChecks checks("guard");
  checks.require(settings.name.empty() || is_name(settings.name), "name",
                 "must be 1 to 63 letters, digits, underscores, hyphens and dots");
  check_fields(checks, settings);
  check_patience(checks, settings);
  checks
      .require(settings.service_name.empty() || is_value(settings.service_name), "service_name",
               "must be text of at most 255 bytes without control characters")
      .require(settings.manual_success_route.empty() ||
                   (settings.manual_success_route.starts_with('/') &&
                    is_value(settings.manual_success_route)),
               "manual_success_route", "must begin with / or be empty");
  return checks.result();
}

}  // namespace recourse::guard
