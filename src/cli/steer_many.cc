// A bulk job: counted first, confirmed, and watched while the server works it off.
#include <fmt/format.h>

#include <algorithm>

#include "cli/bulk_watch.h"
#include "cli/confirm.h"
#include "cli/display_text.h"
#include "cli/json_read.h"
#include "cli/steer.h"

namespace recourse::cli {
namespace {

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
  return end_of_job(session, job);
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
  const auto total = found->more ? std::nullopt : std::optional(found->found);
  const auto ended = watch_job(session, *job, std::string(steering.does), total);
  return ended ? report(session, steering, *ended) : session.exit_code();
}

}  // namespace recourse::cli
