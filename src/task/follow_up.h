// The names of tasks that follow from another one.
#pragma once

#include <cstdint>

#include "task/ids.h"

namespace recourse::task {

// Of the `index`th task that follows from an episode of `parent`: the same whenever it is asked
// for, and of the parent's time. A task that a person reopens may come to another end.
TaskId follow_up_id(const TaskId& parent, int episode, std::uint32_t index);

}  // namespace recourse::task
