// A bulk job: counted first, confirmed, and watched while the server works it off.
#include <fmt/format.h>

#include <algorithm>

#include "cli/confirm.h"
#include "cli/display_text.h"
#include "cli/json_read.h"
#include "cli/progress.h"
#include "cli/steer.h"
#include "cli/url_text.h"

namespace recourse::cli {
namespace {

constexpr Duration kFirstLook = std::chrono::milliseconds(20);
constexpr Duration kLookEvery = std::chrono::milliseconds(250);

struct Count {
  std::size_t found = 0;
  bool more = false;
};

std::string count_text(const Count& count) {
  return (count.more ? "more than " : "") + grouped(count.found);
}

boost::json::object body_of(const Steering& steering, const SteerFlags& flags,
                            const boost::json::object& filter) {
  boost::json::object body{{"action", steering.action}, {"filter", filter}};
  if (!flags.reason.empty()) body["reason"] = flags.reason;
  return body;
}

std::optional<Count> count(Session& session, boost::json::object body) {
  body["dry_run"] = true;
  const auto answer =
      session.call(http::Method::kPost, "/api/v1/bulk", boost::json::serialize(body));
  if (!answer) return std::nullopt;
  return Count{.found = static_cast<std::size_t>(number_of(*answer, "count")),
               .more = flag_of(*answer, "more")};
}

// A dry run stops counting at some point; states of kinds are counted anyhow.
std::optional<std::size_t> count_by_state(Session& session, const FilterFlags& filter) {
  if (filter.states.empty() || !filter.key.empty()) return std::nullopt;
  const auto stats = session.try_get("/api/v1/stats");
  if (!stats) return std::nullopt;
  std::size_t sum = 0;
  for (const auto& [kind, counts] : object_of(*stats, "kinds")) {
    const bool fits =
        filter.kinds.empty() || std::ranges::count(filter.kinds, std::string_view(kind)) > 0;
    if (!fits || !counts.is_object()) continue;
    for (const std::string& state : filter.states) {
      sum += static_cast<std::size_t>(number_of(counts.get_object(), state));
    }
  }
  return sum;
}

// Empty: go on.
std::optional<ExitCode> ask(Session& session, const Steering& steering, const SteerFlags& flags,
                            const Count& found) {
  Terminal& terminal = session.terminal();
  std::string what = fmt::format("{} {} {}.", steering.does, count_text(found),
                                 describe(flags.filter, found.found));
  if (steering.is_final) what += " This cannot be taken back.";
  const Question question{.what = std::move(what),
                          .type_word = steering.is_final ? std::string(steering.action) : ""};
  const Asking asking{.assumed = flags.yes,
                      .is_terminal = terminal.in_is_terminal && terminal.err_is_terminal};
  switch (confirm(question, asking, terminal.in, terminal.err)) {
    case Confirmed::kYes: return std::nullopt;
    case Confirmed::kNo: session.say("Nothing was done."); return ExitCode::kFailure;
    case Confirmed::kNobodyToAsk: return ExitCode::kUsage;
  }
  std::abort();
}

std::size_t seen_by(const boost::json::object& job) {
  return static_cast<std::size_t>(number_of(job, "done") + number_of(job, "requested") +
                                  number_of(job, "refused"));
}

// The job as it ended; empty where nobody can say.
std::optional<boost::json::object> watch(Session& session, const Steering& steering,
                                         boost::json::object job, const Count& found) {
  Terminal& terminal = session.terminal();
  const std::string path = "/api/v1/bulk/" + percent_encoded(text_of(job, "id"));
  const bool silent = session.flags().quiet || session.flags().json;
  Progress progress(terminal.err, silent ? std::nullopt : terminal.err_width(),
                    std::string(steering.does),
                    found.more ? std::nullopt : std::optional(found.found), terminal.now());
  Duration pause = kFirstLook;
  while (text_of(job, "state") == "running") {
    terminal.sleep(pause);
    pause = std::min(pause * 2, kLookEvery);
    auto answer = session.try_get(path);
    if (!answer) {
      progress.clear();
      session.complain(session.exit_code(), session.trouble());
      session.say(fmt::format("The job {} goes on without you: see {}{}", text_of(job, "id"),
                              session.server(), path));
      return std::nullopt;
    }
    job = *std::move(answer);
    progress.update(seen_by(job), terminal.now());
  }
  return job;
}

ExitCode report(Session& session, const Steering& steering, const boost::json::object& job) {
  if (session.flags().json) session.print(job);
  const auto refused = number_of(job, "refused");
  const auto requested = number_of(job, "requested");
  const auto done = static_cast<std::size_t>(number_of(job, "done"));
  std::string text = fmt::format("{} {}", grouped(done), steering.done);
  if (requested > 0) text += fmt::format(", {} asked for while they run", requested);
  if (refused > 0) text += fmt::format(", {} refused", refused);
  session.say(text);
  for (const auto& error : array_of(job, "errors")) {
    if (error.is_string()) session.say("  " + printable(std::string(error.get_string())));
  }
  if (text_of(job, "state") != "done") {
    return session.complain(ExitCode::kFailure, "the job is " + text_of(job, "state"));
  }
  return refused > 0 ? ExitCode::kPartlyDone : ExitCode::kOk;
}

}  // namespace

ExitCode steer_by_filter(Session& session, const Steering& steering, const SteerFlags& flags) {
  const auto filter = to_filter(flags.filter);
  if (!filter) return session.complain(ExitCode::kUsage, filter.error().message);
  const boost::json::object body = body_of(steering, flags, *filter);
  std::optional<Count> found = count(session, body);
  if (!found) return session.exit_code();
  if (found->more) {
    const auto all = count_by_state(session, flags.filter);
    if (all && *all >= found->found) found = Count{.found = *all};
  }
  if (flags.dry_run || found->found == 0) {
    if (session.flags().json) {
      session.print(
          boost::json::object{{"dry_run", true}, {"count", found->found}, {"more", found->more}});
    }
    session.say(fmt::format("{} {}; nothing was done", count_text(*found),
                            describe(flags.filter, found->found)));
    return ExitCode::kOk;
  }
  if (const auto code = ask(session, steering, flags, *found)) return *code;
  const auto job = session.call(http::Method::kPost, "/api/v1/bulk", boost::json::serialize(body));
  if (!job) return session.exit_code();
  const auto ended = watch(session, steering, *job, *found);
  return ended ? report(session, steering, *ended) : session.exit_code();
}

}  // namespace recourse::cli
