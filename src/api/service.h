// The API as the transport sees it: a request comes in, its route is found, the caller is known,
// and the route answers.
#pragma once

#include <memory>

#include "api/desk.h"
#include "api/gate.h"
#include "api/route.h"
#include "http/server.h"

namespace recourse::api {

// Both must outlive what they make.
Result<http::Service> make_service(Desk& desk, Gate& gate);

// How the transport refuses.
http::Response refuse_request(int status, std::string_view detail);

}  // namespace recourse::api
