// The figures as Prometheus reads them.
#pragma once

#include <string>

#include "api/desk.h"

namespace recourse::api {

std::string metrics_text(Desk& desk);

}  // namespace recourse::api
