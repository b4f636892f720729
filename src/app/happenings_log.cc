#include "app/happenings_log.h"

#include <array>
#include <string>

namespace recourse::app {

void log_happening(Log& log, const engine::Happening& happening) {
  const auto* moved = std::get_if<engine::Moved>(&happening);
  if (moved == nullptr || !moved->error) return;
  // What ends badly is news; all else is for who looks closely.
  const bool is_bad = task::needs_person(moved->to);
  const std::array<LogField, 6> fields{{{"task", task::to_string(moved->task)},
                                        {"kind", moved->kind.value},
                                        {"state", std::string(to_string(moved->to))},
                                        {"retries", std::to_string(moved->retries)},
                                        {"code", moved->error->code},
                                        {"error", moved->error->message}}};
  log.write(is_bad ? LogLevel::kWarning : LogLevel::kDebug,
            is_bad ? "task_ended_badly" : "attempt_failed", fields);
}

}  // namespace recourse::app
