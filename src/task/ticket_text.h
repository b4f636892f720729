// A ticket as somebody outside holds it: which task, and by what right its attempt is reported on.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "task/ids.h"
#include "task/ownership.h"

namespace recourse::task {

struct NamedTicket {
  TaskId task;
  Ticket ticket;

  friend constexpr auto operator<=>(const NamedTicket&, const NamedTicket&) = default;
};

// `tsk_01J...~7~01J...`: task, fence and lease id. It needs no quoting in a header, a URL, a shell
// or an environment variable.
std::string to_string(const NamedTicket& ticket);

// Strict: exactly the spelling that to_string gives. `field` names the input in the error.
Result<NamedTicket> parse_ticket(std::string_view field, std::string_view text);

}  // namespace recourse::task
