// What Redis refuses a command with, by what the caller should do. Its error replies begin with a
// word for programs; the only place that knows those words.
#pragma once

#include <string_view>

#include "base/result.h"

namespace recourse::message::redis {

Error translate(std::string_view error_reply);

}  // namespace recourse::message::redis
