// What a thread is called in `top -H`, in a debugger and under /proc.
//
// A thread inherits the name of the one that starts it, so every pool names its own.
#pragma once

#include <string_view>

namespace recourse {

// The system keeps the first 15 bytes.
void name_this_thread(std::string_view name);

}  // namespace recourse
