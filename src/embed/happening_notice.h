// What of a happening people are told, beside what waits for them: a case tells that.
#pragma once

#include <optional>

#include "engine/core/happening.h"
#include "notify/notice.h"

namespace recourse::embed {

// Without id, node and time.
std::optional<notify::Notice> notice_of(const engine::Happening& happening);

}  // namespace recourse::embed
