// The environment and the flags, laid over what the file says.
#pragma once

#include <string>
#include <vector>

#include "app/config/given.h"
#include "app/config/key.h"
#include "app/config/secret.h"
#include "app/config/where.h"

namespace recourse::app {

// RECOURSE__SECTION__KEY: two underscores between levels, one for each dash. A kind or another name
// that the file has is found however it is spelled there; a new one is in lower case, with dashes.
void lay_environment(const Environment& environment, Given& root);

// Warns of RECOURSE_SERVER_LISTEN and the like, which nobody reads, with the name that is read.
// What the configuration itself names (env:RECOURSE_STORE_URL) is read.
void warn_of_unread(const Environment& environment, const Keys& keys, const Given& root,
                    Problems& problems);

// section.key=value. A name that has a dot goes in double quotes: kinds."order.paid".url=...
void lay_flags(const std::vector<std::string>& flags, Given& root, Problems& problems);

// How the environment would name a key.
std::string variable_of(std::string_view path);

}  // namespace recourse::app
