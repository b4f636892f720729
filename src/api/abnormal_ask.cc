#include "api/abnormal_ask.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

namespace recourse::api {
namespace {

using boost::json::object;
using boost::json::value;

bool is_empty(const value& given) {
  return given.is_null() || (given.is_string() && given.as_string().empty());
}

std::optional<std::int64_t> number_in(const value& given) {
  if (given.is_int64()) return given.as_int64();
  if (!given.is_string()) return std::nullopt;
  const std::string_view text = given.as_string();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc{} && end == text.data() + text.size();
  return is_whole ? std::optional(number) : std::nullopt;
}

// `one` and `list` mean the same; both may be given.
std::vector<value> values_of(const object& body, std::string_view one, std::string_view list) {
  std::vector<value> values;
  for (const std::string_view name : {one, list}) {
    const value* given = body.if_contains(name);
    if (given == nullptr || is_empty(*given)) continue;
    if (const auto* several = given->if_array()) {
      for (const value& item : *several) {
        if (!is_empty(item)) values.push_back(item);
      }
    } else {
      values.push_back(*given);
    }
  }
  return values;
}

Result<std::size_t> page_number(const object& body, std::string_view name, std::int64_t usual,
                                std::int64_t most) {
  const value* given = body.if_contains(name);
  if (given == nullptr || is_empty(*given)) return static_cast<std::size_t>(usual);
  const auto number = number_in(*given);
  if (number && *number >= 1 && *number <= most) return static_cast<std::size_t>(*number);
  return fail(ErrorCode::kInvalid, fmt::format("{} 必须是 1 到 {} 之间的整数", name, most));
}

}  // namespace

Result<AbnormalAsk> read_abnormal_ask(const object& body) {
  AbnormalAsk ask;
  const auto num = page_number(body, "pageNum", 1, kAbnormalRowsMax);
  if (!num) return fail(num.error());
  const auto size = page_number(body, "pageSize", 20, kAbnormalPageMax);
  if (!size) return fail(size.error());
  ask.page_num = *num;
  ask.page_size = *size;
  if (ask.page_num * ask.page_size > static_cast<std::size_t>(kAbnormalRowsMax)) {
    return fail(ErrorCode::kInvalid,
                fmt::format("最多只能翻到第 {} 条记录；请用 serviceName 或 errStatus 缩小范围",
                            kAbnormalRowsMax));
  }
  for (const value& service : values_of(body, "serviceName", "serviceNameList")) {
    if (!service.is_string()) return fail(ErrorCode::kInvalid, "serviceName 必须是文本");
    ask.services.emplace(service.as_string());
  }
  for (const value& status : values_of(body, "errStatus", "errStatusList")) {
    const auto number = number_in(status);
    if (!number || *number < 0 || *number > std::numeric_limits<std::int32_t>::max()) {
      return fail(ErrorCode::kInvalid, "errStatus 必须是整数，例如 4001");
    }
    ask.err_statuses.push_back(static_cast<std::int32_t>(*number));
  }
  return ask;
}

}  // namespace recourse::api
