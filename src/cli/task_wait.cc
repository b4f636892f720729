#include "cli/task_wait.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/duration_text.h"
#include "base/text.h"
#include "cli/json_read.h"
#include "cli/task_rows.h"
#include "cli/url_text.h"

namespace recourse::cli {
namespace {

using boost::json::object;

constexpr Duration kFirstTaskLook = std::chrono::milliseconds(20);
constexpr Duration kTaskLookEvery = std::chrono::seconds(1);

ExitCode tell_end(Session& session, const object& task) {
  if (session.flags().json) session.print(task);
  const std::string state = text_of(task, "state");
  std::string text = fmt::format("{} {} after {}", text_of(task, "id"), state_phrase(state),
                                 counted(number_of(task, "attempts"), "attempt"));
  if (state == "succeeded") {
    session.say(text);
    return ExitCode::kOk;
  }
  if (const auto& error = object_of(task, "last_error"); !error.empty()) {
    text += ": " + error_text(error);
  }
  return session.complain(ExitCode::kFailure, text);
}

ExitCode tell_lateness(Session& session, const std::string& id, const std::optional<object>& task,
                       Duration within) {
  if (task && session.flags().json) session.print(*task);
  return session.complain(
      ExitCode::kPartlyDone,
      fmt::format("{} has not ended within {} and goes on; recourse task explain {} says why", id,
                  format_duration(within), id));
}

}  // namespace

ExitCode wait_for_end(Session& session, const std::string& id, std::optional<Duration> within) {
  Terminal& terminal = session.terminal();
  const std::string path = "/api/v1/tasks/" + percent_encoded(id);
  const TimePoint start = terminal.now();
  Duration pause = kFirstTaskLook;
  bool was_there = true;
  while (true) {
    const std::optional<object> task = session.try_get(path);
    if (task && time_of(*task, "ended_at")) return tell_end(session, *task);
    if (!task && session.exit_code() != ExitCode::kDown) {
      return session.complain(session.exit_code(), session.trouble());
    }
    if (std::exchange(was_there, task.has_value()) && !task) {
      session.say("the server is gone; waiting for it");
    }
    const Duration waited = terminal.now() - start;
    if (within && waited >= *within) return tell_lateness(session, id, task, *within);
    terminal.sleep(within ? std::min(pause, *within - waited) : pause);
    pause = std::min(pause * 2, kTaskLookEvery);
  }
}

}  // namespace recourse::cli
