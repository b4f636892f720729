// The documentation of every key, out of the table itself.
#pragma once

#include <string>

namespace recourse::app {

// A whole configuration file with every key, its default and what it means. It parses, and means
// the same as an empty file.
std::string reference_yaml();

// A table for each section.
std::string reference_markdown();

}  // namespace recourse::app
