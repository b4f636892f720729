// A submission as bytes and back, for the time it waits outside the store.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "store/work.h"

namespace recourse::degrade {

// But for a birth claim, which no waiting submission has.
std::string to_bytes(const store::Submission& submission);
// kCorrupt where these are not such bytes, or those of a later version.
Result<store::Submission> submission_from(std::string_view bytes);

}  // namespace recourse::degrade
