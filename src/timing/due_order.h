// Puts what is due into order of time.
#pragma once

#include <vector>

#include "timing/slot.h"

namespace recourse::timing {

// Few entries are compared with each other; many, as a tick of a busy node has, go through a radix
// sort, whose cost per entry does not grow. `scratch` is empty before and after: only
// memory, kept for the next call.
void sort_by_due(std::vector<Entry>& entries, std::vector<Entry>& scratch);

}  // namespace recourse::timing
