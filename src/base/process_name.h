// How a process is called where nobody named it.
#pragma once

#include <string>

namespace recourse {

// The machine's name and the process's number: `host:4711`.
std::string process_name();

}  // namespace recourse
