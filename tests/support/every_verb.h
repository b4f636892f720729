// A short life that makes a store send every statement it has: each verb, each question, and each
// way through them that asks the database for something else.
#pragma once

#include "store/opened.h"

namespace recourse::tests {

// Stops the test at the first verb that fails. Leaves a few tasks behind in most of the states.
void run_every_verb(store::OpenedStore& opened);

}  // namespace recourse::tests
