// What of the engine can only be measured in processes of their own: their memory, and the way of a
// task from one process to another.
#pragma once

#include <string>

namespace recourse::bench {

// The program starts itself again for them: true where it was started so, and has done its part.
bool run_as_child(int argc, char** argv);

// How much of a processor an engine uses that has nothing to do.
void print_idle(const std::string& name, const std::string& url);
// Of a process that has run 50,000 tasks.
void print_memory(const std::string& name, const std::string& url);
// One process submits, the other runs.
void print_pickup_apart(const std::string& name, const std::string& url);

}  // namespace recourse::bench
