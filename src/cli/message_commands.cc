// message list, show, history, summary, sources, clean: messages of brokers.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>

#include "base/text.h"
#include "cli/case_rows.h"
#include "cli/commands.h"
#include "cli/confirm.h"
#include "cli/json_read.h"
#include "cli/list_run.h"
#include "cli/message_flags.h"
#include "cli/message_rows.h"
#include "cli/url_text.h"

namespace recourse::cli {

Parameters MessageFlags::given() const {
  std::string word = status;
  std::ranges::transform(word, word.begin(), [](unsigned char letter) {
    return static_cast<char>(std::toupper(letter));
  });
  Parameters all{
      {"status", word},  {"kind", kind},   {"message_id", message_id}, {"business_id", business_id},
      {"topic", topic},  {"group", group}, {"source", source},         {"from", from},
      {"before", before}};
  std::erase_if(all, [](const auto& one) { return one.second.empty(); });
  return all;
}

void add_message_flags(CLI::App& command, MessageFlags& flags, const std::string& statuses) {
  command.add_option("--status", flags.status, statuses)->type_name("STATUS");
  command.add_option("--kind", flags.kind, "Of this kind")->type_name("KIND");
  command.add_option("--message-id", flags.message_id, "With this id")->type_name("ID");
  command.add_option("--business-id", flags.business_id, "About this")->type_name("ID");
  command.add_option("--topic", flags.topic, "Of this queue, topic or stream")->type_name("NAME");
  command.add_option("--group", flags.group, "Of this consumers' group")->type_name("NAME");
  command.add_option("--source", flags.source, "Of this source")->type_name("NAME");
  command.add_option("--from", flags.from, "Recorded then or later")->type_name("TIME");
  command.add_option("--before", flags.before, "Recorded earlier")->type_name("TIME");
  refuse_empty_values(command);
}

namespace {

constexpr const char* kMessages = "/api/v1/messages";

ExitCode show_message(Session& session, const std::string& id) {
  const auto one = session.get(fmt::format("{}/{}", kMessages, percent_encoded(id)));
  if (!one) return session.exit_code();
  if (session.flags().json) {
    session.print(*one);
    return ExitCode::kOk;
  }
  const auto audit = session.get("/api/v1/tasks/" + percent_encoded(id) + "/audit");
  if (!audit) return session.exit_code();
  session.terminal().out << message_page(*one, session.now(), session.colors());
  const Table deeds = deeds_table(array_of(*audit, "items"), session.now());
  if (deeds.rows() > 0) {
    session.terminal().out << '\n'
                           << deeds.render(session.terminal().out_width(), session.colors());
  }
  return ExitCode::kOk;
}

ExitCode show_history(Session& session, const std::string& id) {
  const auto answer = session.get(fmt::format("{}/{}/history", kMessages, percent_encoded(id)));
  if (!answer) return session.exit_code();
  if (session.flags().json) {
    session.print(*answer);
    return ExitCode::kOk;
  }
  const Table table = message_attempts(array_of(*answer, "items"), session.now());
  if (table.rows() == 0) {
    session.say("It has not been tried yet.");
  } else {
    session.terminal().out << table.render(session.terminal().out_width(), session.colors());
  }
  return ExitCode::kOk;
}

ExitCode summarise_messages(Session& session) {
  const auto answer = session.get("/api/v1/messages/summary");
  if (!answer) return session.exit_code();
  if (session.flags().json) {
    session.print(*answer);
  } else {
    session.terminal().out << message_summary_page(
        *answer, session.now(), session.terminal().out_width(), session.colors());
  }
  return ExitCode::kOk;
}

ExitCode list_sources(Session& session) {
  return list_few(session, "/api/v1/messages/sources", empty_source_table(), add_source_row,
                  "This server has no sources of messages.");
}

struct MessageCleanFlags {
  std::string processed = "30d";
  std::string ignored = "90d";
  bool yes = false;
};

ExitCode clean_messages(Session& session, const MessageCleanFlags& flags) {
  Terminal& terminal = session.terminal();
  const Question question{
      .what = fmt::format("Deletes messages that were processed more than {} ago, and those that "
                          "were ignored more than {} ago. This cannot be taken back.",
                          flags.processed, flags.ignored)};
  const Asking asking{.assumed = flags.yes,
                      .is_terminal = terminal.in_is_terminal && terminal.err_is_terminal};
  switch (confirm(question, asking, terminal.in, terminal.err)) {
    case Confirmed::kYes: break;
    case Confirmed::kNo: session.say("Nothing was done."); return ExitCode::kFailure;
    case Confirmed::kNobodyToAsk: return ExitCode::kUsage;
  }
  const boost::json::object body{{"processed_older_than", flags.processed},
                                 {"ignored_older_than", flags.ignored}};
  const auto done =
      session.call(http::Method::kPost, "/api/v1/messages/clean", boost::json::serialize(body));
  if (!done) return session.exit_code();
  if (session.flags().json) session.print(*done);
  session.say(counted(number_of(*done, "deleted"), "message") + " deleted");
  return ExitCode::kOk;
}

void add_message_list(CLI::App& group, const Tree& tree) {
  const auto which = std::make_shared<MessageFlags>();
  const auto page = std::make_shared<ListFlags>();
  CLI::App& list = add_command(
      group, "list", "The newest first",
      {"recourse message list --status PENDING", "recourse message list --topic orders --json"});
  add_message_flags(list, *which, "RETRYING, PENDING, PROCESSED, IGNORED, or 0 to 3");
  add_page_flags(list, *page);
  runs(list, tree, [which, page](Session& session) {
    page->more = which->given();
    return list_pages(session, kMessages, *page, message_table, "No such messages.");
  });
}

void add_message_looks(CLI::App& group, const Tree& tree) {
  const auto shown = std::make_shared<std::string>();
  CLI::App& one =
      add_command(group, "show", "All that is known of one", {"recourse message show tsk_01J..."});
  one.add_option("id", *shown, "Which")->required()->type_name("ID");
  runs(one, tree, [shown](Session& session) { return show_message(session, *shown); });
  const auto told = std::make_shared<std::string>();
  CLI::App& history =
      add_command(group, "history", "Its attempts", {"recourse message history tsk_01J..."});
  history.add_option("id", *told, "Which")->required()->type_name("ID");
  runs(history, tree, [told](Session& session) { return show_history(session, *told); });
  runs(add_command(group, "summary", "Counts, success rate, the newest that wait for a person",
                   {"recourse message summary"}),
       tree, summarise_messages);
  runs(add_command(group, "sources", "Where they come from, and how that fares",
                   {"recourse message sources"}),
       tree, list_sources);
}

void add_message_clean(CLI::App& group, const Tree& tree) {
  const auto age = std::make_shared<MessageCleanFlags>();
  CLI::App& cleaning = add_command(group, "clean", "Delete messages that have ended, by age",
                                   {"recourse message clean --processed-older-than 30d --yes"});
  cleaning.add_option("--processed-older-than", age->processed, "Processed longer ago")
      ->type_name("DURATION")
      ->capture_default_str();
  cleaning.add_option("--ignored-older-than", age->ignored, "Ignored longer ago")
      ->type_name("DURATION")
      ->capture_default_str();
  cleaning.add_flag("-y,--yes", age->yes, "Do not ask");
  runs(cleaning, tree, [age](Session& session) { return clean_messages(session, *age); });
}

}  // namespace

void add_message_commands(const Tree& tree) {
  CLI::App& group = add_group(tree.program, "message", "Messages of brokers",
                              {"recourse message summary", "recourse message list --status PENDING",
                               "recourse message retry --topic orders"});
  add_message_list(group, tree);
  add_message_looks(group, tree);
  add_message_steering(group, tree);
  add_message_clean(group, tree);
}

}  // namespace recourse::cli
