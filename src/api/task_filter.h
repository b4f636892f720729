// Which tasks a caller means, from a query or from a body.
#pragma once

#include <boost/json.hpp>
#include <vector>

#include "api/access.h"
#include "api/fields.h"
#include "http/message.h"
#include "store/work.h"

namespace recourse::api {

// `?state=dead&kind=mail&key.order=o-1&...`; several of one name mean any of them.
store::Filter read_filter(const http::Request& request, const Identity& caller,
                          std::vector<FieldError>& errors);
// {"state": ["dead"], "kind": "mail", "keys": {"order": "o-1"}, ...}
store::Filter read_filter(Fields& fields, const Identity& caller);

// A moment, by the parameter's name.
std::optional<TimePoint> read_time(const http::Request& request, std::string_view name,
                                   std::vector<FieldError>& errors);
// `cursor`: where the page before ended.
std::optional<task::TaskId> read_cursor(const http::Request& request,
                                        std::vector<FieldError>& errors);
// `limit`, within the page's bounds.
std::size_t read_limit(const http::Request& request, std::vector<FieldError>& errors);
// Where only one can be meant, two are not answered as if the second had not been said.
void refuse_repeated_parameters(const http::Request& request, std::vector<FieldError>& errors);
// Parameters that nobody reads are wrong too.
void refuse_other_parameters(const http::Request& request, const std::vector<std::string>& known,
                             std::vector<FieldError>& errors);

}  // namespace recourse::api
