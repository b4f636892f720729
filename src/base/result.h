// The library's own Result is what all of it uses.
#pragma once

#include "recourse/result.h"
