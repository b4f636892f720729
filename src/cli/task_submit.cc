// task submit, task edit: what brings a payload.
#include <boost/json.hpp>
#include <memory>

#include "base/duration_text.h"
#include "cli/commands.h"
#include "cli/filter_flags.h"
#include "cli/json_read.h"
#include "cli/payload.h"
#include "cli/task_wait.h"
#include "cli/url_text.h"

namespace recourse::cli {
namespace {

struct SubmitFlags {
  std::string kind = {};
  PayloadFlags payload = {};
  std::string id = {}, timeout = {}, delay = {}, deadline = {}, unique_key = {}, tenant = {};
  int priority = -1;
  int max_retries = -1;
  std::vector<std::string> keys = {};
  bool wait = false;
  std::string wait_timeout = {};
};

struct EditFlags {
  std::string id = {};
  PayloadFlags payload = {};
  bool retry = false;
  std::string reason = {};
};

void put_text(boost::json::object& body, std::string_view name, const std::string& text) {
  if (!text.empty()) body[name] = text;
}

Result<boost::json::object> body_of(const SubmitFlags& flags) {
  boost::json::object body{{"kind", flags.kind}};
  put_text(body, "id", flags.id);
  put_text(body, "timeout", flags.timeout);
  put_text(body, "delay", flags.delay);
  put_text(body, "deadline", flags.deadline);
  put_text(body, "unique_key", flags.unique_key);
  put_text(body, "tenant", flags.tenant);
  if (flags.priority >= 0) body["priority"] = flags.priority;
  if (flags.max_retries >= 0) body["max_retries"] = flags.max_retries;
  for (const std::string& text : flags.keys) {
    const auto key = split_key(text);
    if (!key) return fail(key.error());
    if (!body.contains("search_keys")) body["search_keys"].emplace_object();
    body["search_keys"].as_object()[key->first] = key->second;
  }
  return body;
}

// The id alone goes to standard output.
void print_submitted(Session& session, const boost::json::object& answer) {
  const std::string id = text_of(answer, "id");
  // At once: who ends the waiting has it.
  session.terminal().out << id << std::endl;
  if (text_of(answer, "reason") == "unique_key") {
    session.say("not created: " + id + " has this unique key already");
  } else if (!flag_of(answer, "created")) {
    session.say("not created: it was submitted before");
  }
  if (const std::string warning = text_of(answer, "warning"); !warning.empty()) {
    session.say("warning: " + warning);
  }
}

ExitCode submit(Session& session, const SubmitFlags& flags) {
  const auto body = body_of(flags);
  if (!body) return session.complain(ExitCode::kUsage, body.error().message);
  std::optional<Duration> within;
  if (!flags.wait_timeout.empty()) {
    const auto parsed = parse_duration("--wait-timeout", flags.wait_timeout);
    if (!parsed) return session.complain(ExitCode::kUsage, parsed.error().message);
    within = *parsed;
  }
  std::string text = boost::json::serialize(*body);
  if (flags.payload.given()) {
    const auto payload = read_payload(flags.payload, session.terminal().in);
    if (!payload) return session.complain(ExitCode::kUsage, payload.error().message);
    text = with_payload(*body, *payload);
  }
  const auto answer = session.call(http::Method::kPost, "/api/v1/tasks", std::move(text));
  if (!answer) return session.exit_code();
  if (!session.flags().json) {
    print_submitted(session, *answer);
  } else if (!flags.wait) {
    session.print(*answer);
  }
  return flags.wait ? wait_for_end(session, text_of(*answer, "id"), within) : ExitCode::kOk;
}

ExitCode edit(Session& session, const EditFlags& flags) {
  if (!flags.payload.given()) {
    return session.complain(ExitCode::kUsage,
                            "nothing to change: give --payload or --payload-file");
  }
  const auto payload = read_payload(flags.payload, session.terminal().in);
  if (!payload) return session.complain(ExitCode::kUsage, payload.error().message);
  boost::json::object body;
  put_text(body, "reason", flags.reason);
  if (flags.retry) body["retry"] = true;
  const auto answer =
      session.call(http::Method::kPatch, "/api/v1/tasks/" + percent_encoded(flags.id),
                   with_payload(body, *payload));
  if (!answer) return session.exit_code();
  if (session.flags().json) session.print(*answer);
  session.say(flags.id + (flags.retry ? " is changed, and retried" : " is changed"));
  return ExitCode::kOk;
}

void add_wait_flags(CLI::App& command, SubmitFlags& flags) {
  CLI::Option* wait = command.add_flag("--wait", flags.wait,
                                       "Until it has ended; ends with 0 only where it succeeded");
  command
      .add_option("--wait-timeout", flags.wait_timeout,
                  "Wait at most so long, then end with 7 (default: as long as it takes)")
      ->type_name("DURATION")
      ->needs(wait);
}

}  // namespace

void add_submit(CLI::App& group, const Tree& tree) {
  const auto flags = std::make_shared<SubmitFlags>();
  CLI::App& command = add_command(
      group, "submit", "Hand in a task; prints its id",
      {"recourse task submit grant-points --payload '{\"user\": 7, \"points\": 50}'",
       "recourse task submit send-mail --payload-file mail.json --delay 10m --key order=4711",
       "recourse task submit close-day --wait --wait-timeout 5m",
       "make-report | recourse task submit store-report -"});
  command.add_option("kind", flags->kind, "What sort of work it is")->required()->type_name("KIND");
  add_payload_flags(command, flags->payload);
  command.add_option("source", flags->payload.file, "- reads the payload from standard input")
      ->type_name("-")
      ->check([](const std::string& text) {
        return text == "-" ? std::string()
                           : "the payload itself goes behind --payload, as in --payload '{}'";
      });
  command.add_option("--id", flags->id, "Its id, so that a repeat makes no second task")
      ->type_name("ID");
  command.add_option("--unique-key", flags->unique_key, "No second unfinished task with this key")
      ->type_name("KEY");
  command.add_option("--key", flags->keys, "To find it by, for example order=4711; several times")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command.add_option("--delay", flags->delay, "Not before this time has passed")
      ->type_name("DURATION");
  command
      .add_option("--deadline", flags->deadline, "No attempt after this, as 2026-11-16T09:15:00Z")
      ->type_name("TIME");
  command.add_option("--timeout", flags->timeout, "Of one attempt (default: its kind's)")
      ->type_name("DURATION");
  command.add_option("--max-retries", flags->max_retries, "After the first (default: its kind's)")
      ->type_name("N")
      ->check(whole_number(0, 1'000));
  command.add_option("--priority", flags->priority, "0 to 10, 5 is the usual; higher goes first")
      ->type_name("N")
      ->check(whole_number(0, 10));
  command.add_option("--tenant", flags->tenant, "Whose it is")->type_name("NAME");
  add_wait_flags(command, *flags);
  runs(
      command, tree, [flags](Session& session) { return submit(session, *flags); },
      TimeoutName::kLong);
}

void add_edit(CLI::App& group, const Tree& tree) {
  const auto flags = std::make_shared<EditFlags>();
  CLI::App& command = add_command(
      group, "edit", "Give a task another payload",
      {"recourse task edit tsk_01J... --payload '{\"user\": 8}' --retry",
       "recourse task edit tsk_01J... --payload-file fixed.json --reason 'wrong user'"});
  command.add_option("id", flags->id, "Which")->required()->type_name("ID");
  add_payload_flags(command, flags->payload);
  command.add_flag("--retry", flags->retry, "And run it again");
  command.add_option("--reason", flags->reason, "For the audit")->type_name("TEXT");
  runs(command, tree, [flags](Session& session) { return edit(session, *flags); });
}

}  // namespace recourse::cli
