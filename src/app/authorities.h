// Whose certificates are believed, beside or instead of the system's: a PEM file.
#pragma once

#include <string>
#include <vector>

#include "app/config/config.h"
#include "app/config/where.h"
#include "base/result.h"

namespace recourse::app {

// Its text, with one certificate at least; none where there is no path. The error tells what the
// file lacks, to stand after the key's name.
Result<std::string> read_authorities(const std::string& path);

// What is wrong with those that the configuration names, each at the place of its key.
std::vector<Problem> check_authorities(const Config& config);

}  // namespace recourse::app
