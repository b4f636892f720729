// message retry, processed, ignore: one by its id, or many by what they have in common.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/json_read.h"
#include "cli/message_flags.h"
#include "cli/steer.h"
#include "cli/url_text.h"

namespace recourse::cli {
namespace {

// In the API's words, and in ours.
struct MessageOrder {
  std::string_view action;   // the last part of the path
  Steering steering;         // of many
  std::string_view is_done;  // of one
  std::string_view about;    // for the help
};

constexpr MessageOrder kMessageOrders[] = {
    {.action = "retry",
     .steering = {"retry", "Retries", "retried"},
     .is_done = "is retried",
     .about = "Retry one now, or many; one that has ended is refused"},
    {.action = "processed",
     .steering = {"processed", "Marks as processed", "marked as processed"},
     .is_done = "is marked as processed",
     .about = "Say of one, or of many, that they were seen to elsewhere"},
    {.action = "ignore",
     .steering = {"ignore", "Ignores", "ignored"},
     .is_done = "is ignored",
     .about = "Say of one, or of many, that nothing is to be done"},
};

struct MessageSteerFlags {
  std::string id = {};
  MessageFlags which = {};
  std::string reason = {};
  int limit = 0;
  bool all = false, yes = false, dry_run = false;

  [[nodiscard]] bool chooses_many() const { return all || !which.given().empty(); }
};

ExitCode steer_one_message(Session& session, const MessageOrder& order,
                           const MessageSteerFlags& flags) {
  boost::json::object body;
  if (!flags.reason.empty()) body["reason"] = flags.reason;
  const auto done =
      session.call(http::Method::kPost,
                   fmt::format("/api/v1/messages/{}/{}", percent_encoded(flags.id), order.action),
                   boost::json::serialize(body));
  if (!done) return session.exit_code();
  if (session.flags().json) session.print(*done);
  const bool is_asked = text_of(*done, "effect") != "done";
  session.say(fmt::format("{} {}{}", flags.id, order.is_done,
                          is_asked ? ", as soon as its run has ended" : ""));
  return ExitCode::kOk;
}

ExitCode steer_many_messages(Session& session, const MessageOrder& order,
                             const MessageSteerFlags& flags) {
  boost::json::object body;
  for (const auto& [name, text] : flags.which.given()) body[name] = text;
  const std::string status =
      body.contains("status") ? std::string(body.at("status").as_string()) : "PENDING";
  if (flags.limit > 0) body["limit"] = flags.limit;
  if (!flags.reason.empty()) body["reason"] = flags.reason;
  return run_bulk(session, {.steering = order.steering,
                            .path = fmt::format("/api/v1/messages/{}", order.action),
                            .body = std::move(body),
                            .what =
                                [&](std::size_t many) {
                                  std::string what =
                                      status + (many == 1 ? " message" : " messages");
                                  if (flags.limit > 0) {
                                    what += fmt::format(", {} of them at most", flags.limit);
                                  }
                                  return what;
                                },
                            .yes = flags.yes,
                            .dry_run = flags.dry_run});
}

ExitCode steer_messages(Session& session, const MessageOrder& order,
                        const MessageSteerFlags& flags) {
  if (!flags.id.empty() && (flags.chooses_many() || flags.limit > 0)) {
    return session.complain(ExitCode::kUsage,
                            "give an id, or what many have in common, and not both");
  }
  if (flags.chooses_many()) return steer_many_messages(session, order, flags);
  if (flags.id.empty()) {
    return session.complain(ExitCode::kUsage,
                            "none is named: give an id, choose by --topic, --group and the like, "
                            "or say --all");
  }
  return steer_one_message(session, order, flags);
}

}  // namespace

void add_message_steering(CLI::App& group, const Tree& tree) {
  for (const MessageOrder& order : kMessageOrders) {
    const auto flags = std::make_shared<MessageSteerFlags>();
    CLI::App& command =
        add_command(group, std::string(order.action), std::string(order.about),
                    {fmt::format("recourse message {} tsk_01J... --reason 'seen to'", order.action),
                     fmt::format("recourse message {} --topic orders --limit 1000", order.action)});
    command.add_option("id", flags->id, "Which; without it, all that fit the flags")
        ->type_name("ID");
    add_message_flags(command, flags->which, "PENDING (where not given) or RETRYING");
    command.add_option("--limit", flags->limit, "So many at most, the newest")
        ->type_name("N")
        ->check(whole_number(1, 1'000'000));
    command.add_option("--reason", flags->reason, "For the audit")->type_name("TEXT");
    command.add_flag("--all", flags->all, "All that are PENDING");
    command.add_flag("-y,--yes", flags->yes, "Do not ask before many are changed");
    command.add_flag("--dry-run", flags->dry_run, "Only say how many it would be");
    runs(command, tree,
         [flags, &order](Session& session) { return steer_messages(session, order, *flags); });
  }
}

}  // namespace recourse::cli
