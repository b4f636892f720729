#include "cli/bulk_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/json_read.h"
#include "cli/progress.h"
#include "cli/url_text.h"

namespace recourse::cli {
namespace {

constexpr Duration kFirstBulkLook = std::chrono::milliseconds(20);
constexpr Duration kBulkLookEvery = std::chrono::milliseconds(250);

std::size_t seen_by(const boost::json::object& job) {
  return static_cast<std::size_t>(number_of(job, "done") + number_of(job, "requested") +
                                  number_of(job, "refused"));
}

}  // namespace

std::optional<boost::json::object> watch_job(Session& session, boost::json::object job,
                                             std::string label, std::optional<std::size_t> total) {
  Terminal& terminal = session.terminal();
  const std::string id = text_of(job, "id");
  const bool silent = session.flags().quiet || session.flags().json;
  Progress progress(terminal.err, silent ? std::nullopt : terminal.err_width(), std::move(label),
                    total, terminal.now());
  Duration pause = kFirstBulkLook;
  while (text_of(job, "state") == "running") {
    terminal.sleep(pause);
    pause = std::min(pause * 2, kBulkLookEvery);
    auto answer = session.try_get("/api/v1/bulk/" + percent_encoded(id));
    if (!answer) {
      progress.clear();
      session.complain(session.exit_code(), session.trouble());
      session.say(
          fmt::format("The job goes on without you: recourse bulk show {} says how far it is", id));
      return std::nullopt;
    }
    job = *std::move(answer);
    progress.update(seen_by(job), terminal.now());
  }
  return job;
}

ExitCode end_of_job(Session& session, const boost::json::object& job) {
  if (text_of(job, "state") != "done") {
    return session.complain(ExitCode::kFailure, "the job is " + text_of(job, "state"));
  }
  return number_of(job, "refused") > 0 ? ExitCode::kPartlyDone : ExitCode::kOk;
}

}  // namespace recourse::cli
