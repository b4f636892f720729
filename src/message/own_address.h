// Under which address people find this machine.
#pragma once

#include <string>

namespace recourse::message {

// The first one of its network that is not the loop back to itself; 127.0.0.1 where there is none.
// Asked of the system once.
const std::string& own_address();

}  // namespace recourse::message
