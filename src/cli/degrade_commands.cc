// degrade record, list, show, retry, retry-many, clean, summary: side effects that failed inline.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/confirm.h"
#include "cli/degrade_rows.h"
#include "cli/json_read.h"
#include "cli/list_run.h"
#include "cli/payload.h"
#include "cli/steer.h"
#include "cli/url_text.h"

namespace recourse::cli {
namespace {

using boost::json::object;

constexpr const char* kFailures = "/api/v1/degrade/failures";

std::string in_upper_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char letter) {
    return static_cast<char>(std::toupper(letter));
  });
  return text;
}

// Which failures; the same words list them and choose them for a retry.
struct FailureFlags {
  std::string status = {}, kind = {}, member = {}, related_id = {}, type = {}, from = {},
              before = {};

  [[nodiscard]] Parameters given() const {
    Parameters all{{"status", in_upper_case(status)},
                   {"kind", kind},
                   {"member", member},
                   {"related_id", related_id},
                   {"type", type},
                   {"from", from},
                   {"before", before}};
    std::erase_if(all, [](const auto& one) { return one.second.empty(); });
    return all;
  }
};

void add_failure_flags(CLI::App& command, FailureFlags& flags, const std::string& statuses) {
  command.add_option("--status", flags.status, statuses)->type_name("STATUS");
  command.add_option("--kind", flags.kind, "Of this kind")->type_name("KIND");
  command.add_option("--member", flags.member, "Of this member")->type_name("ID");
  command.add_option("--related-id", flags.related_id, "Of this order, or whatever it is")
      ->type_name("ID");
  command.add_option("--type", flags.type, "Of this type")->type_name("TYPE");
  command.add_option("--from", flags.from, "That failed then or later")->type_name("TIME");
  command.add_option("--before", flags.before, "That failed earlier")->type_name("TIME");
  refuse_empty_values(command);
}

struct RecordFlags {
  std::string kind = {}, member = {}, related_id = {}, type = {}, remark = {}, expires_at = {},
              reason = {}, id = {}, tenant = {};
  std::optional<std::int64_t> amount = {};
  PayloadFlags payload = {};
};

ExitCode record_failure(Session& session, const RecordFlags& flags) {
  object body{{"kind", flags.kind}};
  const std::pair<const char*, const std::string&> texts[] = {
      {"member", flags.member}, {"related_id", flags.related_id}, {"type", flags.type},
      {"remark", flags.remark}, {"expires_at", flags.expires_at}, {"reason", flags.reason},
      {"id", flags.id},         {"tenant", flags.tenant}};
  for (const auto& [name, text] : texts) {
    if (!text.empty()) body[name] = text;
  }
  if (flags.amount) body["amount"] = *flags.amount;
  std::string text = boost::json::serialize(body);
  if (flags.payload.given()) {
    const auto payload = read_payload(flags.payload, session.terminal().in);
    if (!payload) return session.complain(ExitCode::kUsage, payload.error().message);
    text = with_payload(body, *payload);
  }
  const auto answer = session.call(http::Method::kPost, kFailures, std::move(text));
  if (!answer) return session.exit_code();
  if (session.flags().json) {
    session.print(*answer);
    return ExitCode::kOk;
  }
  session.terminal().out << text_of(*answer, "id") << std::endl;
  if (text_of(*answer, "recorded_in") == "spool") {
    session.say("the store does not answer: it is in the server's spool until then");
  }
  return ExitCode::kOk;
}

ExitCode show_failure(Session& session, const std::string& id) {
  const auto one = session.get(fmt::format("{}/{}", kFailures, percent_encoded(id)));
  if (!one) return session.exit_code();
  if (session.flags().json) {
    session.print(*one);
  } else {
    session.terminal().out << failure_page(*one, session.now(), session.colors());
  }
  return ExitCode::kOk;
}

struct FailureRetryFlags {
  std::string id = {}, reason = {};
};

ExitCode retry_failure(Session& session, const FailureRetryFlags& flags) {
  object body;
  if (!flags.reason.empty()) body["reason"] = flags.reason;
  const auto done = session.call(http::Method::kPost,
                                 fmt::format("{}/{}/retry", kFailures, percent_encoded(flags.id)),
                                 boost::json::serialize(body));
  if (!done) return session.exit_code();
  if (session.flags().json) session.print(*done);
  session.say(flags.id + (text_of(*done, "effect") == "done" ? " is retried"
                                                             : " will be retried by who runs it"));
  return ExitCode::kOk;
}

struct ManyFlags {
  FailureFlags which = {};
  std::string reason = {};
  int limit = 0;
  bool yes = false, dry_run = false;
};

ExitCode retry_failures(Session& session, const ManyFlags& flags) {
  object body;
  for (const auto& [name, text] : flags.which.given()) body[name] = text;
  if (flags.limit > 0) body["limit"] = flags.limit;
  if (!flags.reason.empty()) body["reason"] = flags.reason;
  const std::string status =
      flags.which.status.empty() ? "FAILED" : in_upper_case(flags.which.status);
  return run_bulk(session, {.steering = {"retry", "Retries", "retried"},
                            .path = "/api/v1/degrade/retry",
                            .body = std::move(body),
                            .what =
                                [&](std::size_t many) {
                                  std::string what = status + (many == 1 ? " record" : " records");
                                  if (flags.limit > 0) {
                                    what += fmt::format(", {} of them at most", flags.limit);
                                  }
                                  return what;
                                },
                            .yes = flags.yes,
                            .dry_run = flags.dry_run});
}

struct CleanFlags {
  std::string older_than = "30d";
  bool yes = false;
};

ExitCode clean_failures(Session& session, const CleanFlags& flags) {
  Terminal& terminal = session.terminal();
  const Question question{
      .what = fmt::format("Deletes completed records older than {}. This cannot be taken back.",
                          flags.older_than)};
  const Asking asking{.assumed = flags.yes,
                      .is_terminal = terminal.in_is_terminal && terminal.err_is_terminal};
  switch (confirm(question, asking, terminal.in, terminal.err)) {
    case Confirmed::kYes: break;
    case Confirmed::kNo: session.say("Nothing was done."); return ExitCode::kFailure;
    case Confirmed::kNobodyToAsk: return ExitCode::kUsage;
  }
  const auto done = session.call(http::Method::kPost, "/api/v1/degrade/clean",
                                 boost::json::serialize(object{{"older_than", flags.older_than}}));
  if (!done) return session.exit_code();
  if (session.flags().json) session.print(*done);
  session.say(counted(number_of(*done, "deleted"), "record") + " deleted");
  return ExitCode::kOk;
}

ExitCode summarise_failures(Session& session) {
  const auto answer = session.get("/api/v1/degrade/summary");
  if (!answer) return session.exit_code();
  if (session.flags().json) {
    session.print(*answer);
  } else {
    session.terminal().out << summary_page(*answer, session.now(), session.terminal().out_width(),
                                           session.colors());
  }
  return ExitCode::kOk;
}

void add_failure_record(CLI::App& group, const Tree& tree) {
  const auto flags = std::make_shared<RecordFlags>();
  CLI::App& command = add_command(
      group, "record", "Record a side effect that failed; prints its id",
      {"recourse degrade record grant-points --member m-1 --related-id order-7 --type EARN_ORDER "
       "--amount 100 --reason 'points service is down' --payload '{\"member\": \"m-1\"}'"});
  command.add_option("kind", flags->kind, "A degrade kind")->required()->type_name("KIND");
  add_payload_flags(command, flags->payload);
  command.add_option("--member", flags->member, "Whose it is")->type_name("ID");
  command.add_option("--related-id", flags->related_id, "What it belongs to")->type_name("ID");
  command.add_option("--type", flags->type, "What sort it is")->type_name("TYPE");
  command.add_option("--amount", flags->amount, "How much")->type_name("N");
  command.add_option("--remark", flags->remark, "For people")->type_name("TEXT");
  command.add_option("--expires-at", flags->expires_at, "When what is granted expires")
      ->type_name("TIME");
  command.add_option("--reason", flags->reason, "Why it failed")->type_name("TEXT");
  command.add_option("--tenant", flags->tenant, "Its tenant")->type_name("NAME");
  command.add_option("--id", flags->id, "Its id, so that a repeat makes no second record")
      ->type_name("ID");
  runs(command, tree, [flags](Session& session) { return record_failure(session, *flags); });
}

void add_failure_looks(CLI::App& group, const Tree& tree) {
  const auto which = std::make_shared<FailureFlags>();
  const auto page = std::make_shared<ListFlags>();
  CLI::App& list = add_command(
      group, "list", "The newest first",
      {"recourse degrade list --status FAILED", "recourse degrade list --member m-1 --json"});
  add_failure_flags(list, *which, "PENDING, COMPLETED or FAILED");
  add_page_flags(list, *page);
  runs(list, tree, [which, page](Session& session) {
    page->more = which->given();
    return list_pages(session, kFailures, *page, failure_table, "No such failures.");
  });
  const auto id = std::make_shared<std::string>();
  CLI::App& one =
      add_command(group, "show", "All that is known of one", {"recourse degrade show tsk_01J..."});
  one.add_option("id", *id, "Which")->required()->type_name("ID");
  runs(one, tree, [id](Session& session) { return show_failure(session, *id); });
  runs(add_command(group, "summary", "Counts, the newest that failed, the most retried",
                   {"recourse degrade summary"}),
       tree, summarise_failures);
}

void add_failure_changes(CLI::App& group, const Tree& tree) {
  const auto flags = std::make_shared<FailureRetryFlags>();
  CLI::App& one = add_command(group, "retry", "Retry one now; a completed one is refused",
                              {"recourse degrade retry tsk_01J... --reason 'it is back'"});
  one.add_option("id", flags->id, "Which")->required()->type_name("ID");
  one.add_option("--reason", flags->reason, "For the audit")->type_name("TEXT");
  runs(one, tree, [flags](Session& session) { return retry_failure(session, *flags); });

  const auto many = std::make_shared<ManyFlags>();
  CLI::App& all = add_command(
      group, "retry-many",
      "Retry many, those that FAILED where nothing else is said; takes one of --member, "
      "--related-id and --type",
      {"recourse degrade retry-many --kind grant-points --limit 1000",
       "recourse degrade retry-many --status PENDING --yes"});
  add_failure_flags(all, many->which, "FAILED (where not given) or PENDING");
  all.add_option("--limit", many->limit, "So many at most, the newest")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000));
  all.add_option("--reason", many->reason, "For the audit")->type_name("TEXT");
  all.add_flag("-y,--yes", many->yes, "Do not ask before many are changed");
  all.add_flag("--dry-run", many->dry_run, "Only say how many it would be");
  runs(all, tree, [many](Session& session) { return retry_failures(session, *many); });

  const auto age = std::make_shared<CleanFlags>();
  CLI::App& cleaning = add_command(group, "clean", "Delete completed records by age",
                                   {"recourse degrade clean --older-than 30d --yes"});
  cleaning.add_option("--older-than", age->older_than, "Those that ended longer ago")
      ->type_name("DURATION")
      ->capture_default_str();
  cleaning.add_flag("-y,--yes", age->yes, "Do not ask");
  runs(cleaning, tree, [age](Session& session) { return clean_failures(session, *age); });
}

}  // namespace

void add_degrade_commands(const Tree& tree) {
  CLI::App& group = add_group(tree.program, "degrade", "Side effects that failed inline",
                              {"recourse degrade summary", "recourse degrade list --status FAILED",
                               "recourse degrade retry-many --kind grant-points"});
  add_failure_record(group, tree);
  add_failure_looks(group, tree);
  add_failure_changes(group, tree);
}

}  // namespace recourse::cli
