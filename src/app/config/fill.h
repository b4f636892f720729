// Puts what was given into the places of the table, and says all that is wrong with it.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "app/config/given.h"
#include "app/config/key.h"
#include "app/config/where.h"

namespace recourse::app {

// Named things come last, so that the defaults they start from are in place. `origins` gets the
// whole path of every key that was given.
void fill(const Keys& keys, const Given& root, const Outside& outside, Problems& problems,
          std::map<std::string, Where>& origins);

// Lists of maps with `name` become maps by name: one way to find an item for all that follows.
void name_items(const Keys& keys, Given& root, Problems& problems);

// kinds.grant, kinds."order.paid"
std::string path_of_item(std::string_view path, std::string_view name);

}  // namespace recourse::app
