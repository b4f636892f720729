#include "sql/postgres/wire.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace recourse::sql::postgres {
namespace {

// Rounded up, so that it is not called over and over in the last millisecond.
int milliseconds_until(Deadline deadline) {
  using std::chrono::milliseconds;
  const Deadline now = std::chrono::steady_clock::now();
  if (deadline <= now) return 0;
  const auto left = std::chrono::ceil<milliseconds>(deadline - now).count();
  return static_cast<int>(std::min<milliseconds::rep>(left, std::numeric_limits<int>::max()));
}

}  // namespace

bool wait_for_socket(int socket, short events, Deadline deadline) {
  pollfd waiting{.fd = socket, .events = events, .revents = 0};
  while (true) {
    const int timeout = milliseconds_until(deadline);
    const int ready = poll(&waiting, 1, timeout);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;
    if (ready == 0 && milliseconds_until(deadline) == 0) return false;
  }
}

Result<ResultHandle> Wire::next_result() {
  while (PQisBusy(get()) != 0) {
    const int unsent = PQflush(get());
    if (unsent < 0) return fail(lose());
    const auto events = static_cast<short>(unsent > 0 ? POLLIN | POLLOUT : POLLIN);
    if (!wait_for_socket(PQsocket(get()), events, deadline_)) {
      return fail(lose("no answer before the deadline"));
    }
    if (PQconsumeInput(get()) == 0) return fail(lose());
  }
  return ResultHandle(PQgetResult(get()));
}

Error Wire::lose() {
  const std::string_view text = connection_ ? PQerrorMessage(get()) : "";
  const std::string_view first_line = text.substr(0, text.find('\n'));
  return lose(clean_text(first_line, kErrorCharactersMax / 2));
}

Error Wire::lose(const std::string& reason) {
  connection_.reset();
  return {ErrorCode::kUnavailable, "lost the connection to PostgreSQL: " + reason};
}

}  // namespace recourse::sql::postgres
