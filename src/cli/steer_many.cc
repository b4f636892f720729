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

std::optional<Count> count(Session& session, const std::string& path, boost::json::object body) {
  body["dry_run"] = true;
  const auto answer = session.call(http::Method::kPost, path, boost::json::serialize(body));
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
std::optional<ExitCode> confirmed(Session& session, const BulkAsk& ask, const Count& found) {
  Terminal& terminal = session.terminal();
  const Steering& steering = ask.steering;
  std::string what =
      fmt::format("{} {} {}.", steering.does, count_text(found), ask.what(found.found));
  if (steering.is_final) what += " This cannot be taken back.";
  const Question question{.what = std::move(what),
                          .type_word = steering.is_final ? std::string(steering.action) : ""};
  const Asking asking{.assumed = ask.yes,
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

ExitCode run_bulk(Session& session, const BulkAsk& ask) {
  std::optional<Count> found = count(session, ask.path, ask.body);
  if (!found) return session.exit_code();
  if (found->more && ask.count_all) {
    const auto all = ask.count_all();
    if (all && *all >= found->found) found = Count{.found = *all};
  }
  if (ask.dry_run || found->found == 0) {
    if (session.flags().json) {
      session.print(boost::json::object{
          {"dry_run", ask.dry_run}, {"count", found->found}, {"more", found->more}});
    }
    session.say(fmt::format("{} {}; nothing was done", count_text(*found), ask.what(found->found)));
    return ExitCode::kOk;
  }
  if (const auto code = confirmed(session, ask, *found)) return *code;
  const auto job = session.call(http::Method::kPost, ask.path, boost::json::serialize(ask.body));
  if (!job) return session.exit_code();
  const auto total = found->more ? std::nullopt : std::optional(found->found);
  const auto ended = watch_job(session, *job, std::string(ask.steering.does), total);
  return ended ? report(session, ask.steering, *ended) : session.exit_code();
}

ExitCode steer_by_filter(Session& session, const Steering& steering, const SteerFlags& flags) {
  const auto filter = to_filter(flags.filter);
  if (!filter) return session.complain(ExitCode::kUsage, filter.error().message);
  boost::json::object body{{"action", steering.action}, {"filter", *filter}};
  if (!flags.reason.empty()) body["reason"] = flags.reason;
  return run_bulk(session, {.steering = steering,
                            .path = "/api/v1/bulk",
                            .body = std::move(body),
                            .what = [&](std::size_t many) { return describe(flags.filter, many); },
                            .count_all = [&] { return count_by_state(session, flags.filter); },
                            .yes = flags.yes,
                            .dry_run = flags.dry_run});
}

}  // namespace recourse::cli
