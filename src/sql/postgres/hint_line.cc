#include "sql/postgres/hint_line.h"

#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <memory>
#include <utility>

#include "sql/postgres/connect.h"
#include "sql/postgres/handles.h"
#include "sql/postgres/url.h"

namespace recourse::sql::postgres {
namespace {

struct NotifyDeleter {
  void operator()(PGnotify* notify) const noexcept { PQfreemem(notify); }
};
using NotifyHandle = std::unique_ptr<PGnotify, NotifyDeleter>;

}  // namespace

Result<HintLine> HintLine::open(const std::string& url, const std::string& channel,
                                Deadline deadline) {
  if (Result<> readable = check_url(url); !readable) return fail(std::move(readable).error());
  Result<ConnectionHandle> opened = open_handle(url, deadline);
  if (!opened) return fail(std::move(opened).error());
  HintLine line(Pipeline{Wire(*std::move(opened))}, channel);
  line.pipeline_.wire().set_deadline(deadline);
  // A word need not survive the server: nobody waits for the disk on its account.
  Result<> listening = line.pipeline_.run_script(
      fmt::format("SET synchronous_commit = off; LISTEN {};", line.channel_));
  if (!listening) return fail(std::move(listening).error());
  return line;
}

Result<> HintLine::say(std::string_view word, Deadline deadline) {
  pipeline_.wire().set_deadline(deadline);
  return pipeline_.run_script(fmt::format("NOTIFY {}, '{}';", channel_, word));
}

std::vector<std::string> HintLine::take_words() {
  std::vector<std::string> words;
  PGconn* raw = pipeline_.wire().get();
  while (const NotifyHandle notify{PQnotifies(raw)}) {
    const bool is_own = notify->be_pid == PQbackendPID(raw);
    if (!is_own) words.emplace_back(notify->extra);
  }
  return words;
}

Result<std::vector<std::string>> HintLine::hear(int wake) {
  Wire& wire = pipeline_.wire();
  if (!wire.usable()) return fail(ErrorCode::kUnavailable, "the connection is lost");
  // Some may have come with the answer to what was said last.
  if (std::vector<std::string> words = take_words(); !words.empty()) return words;
  std::array<pollfd, 2> waiting{{{.fd = PQsocket(wire.get()), .events = POLLIN, .revents = 0},
                                 {.fd = wake, .events = POLLIN, .revents = 0}}};
  constexpr int kForEver = -1;
  if (poll(waiting.data(), waiting.size(), kForEver) <= 0) return std::vector<std::string>();
  if (waiting[0].revents != 0 && PQconsumeInput(wire.get()) == 0) return fail(wire.lose());
  return take_words();
}

}  // namespace recourse::sql::postgres
