// What is asked of `POST /api/admin/abnormal/list`, as the source has it.
#pragma once

#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"

namespace recourse::api {

inline constexpr std::int64_t kAbnormalPageMax = 500;
// A list over several tables is put together from the beginning of each.
inline constexpr std::int64_t kAbnormalRowsMax = 10'000;

struct AbnormalAsk {
  std::size_t page_num = 1;
  std::size_t page_size = 20;
  // Empty: all.
  std::set<std::string> services = {};
  // Empty: whatever is not normal.
  std::vector<std::int32_t> err_statuses = {};
};

// Numbers may be given as texts, one value instead of a list, and what is empty or null is as if it
// were not there, as the source's own reader has it. kInvalid says what is wrong, in Chinese.
Result<AbnormalAsk> read_abnormal_ask(const boost::json::object& body);

}  // namespace recourse::api
