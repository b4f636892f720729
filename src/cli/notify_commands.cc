// notify channels, test, deliveries: how people are told, and what became of it.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/display_text.h"
#include "cli/json_read.h"
#include "cli/list_run.h"
#include "cli/url_text.h"
#include "cli/when.h"

namespace recourse::cli {
namespace {

using boost::json::object;

// A channel may take ten seconds, and its answer must still arrive.
constexpr Duration kTestWithin = std::chrono::seconds(15);

ExitCode list_channels(Session& session) {
  const Table table({{.title = "NAME"},
                     {.title = "TYPE"},
                     {.title = "CONDITION"},
                     {.title = "SENT", .align = Align::kRight},
                     {.title = "FAILED", .align = Align::kRight},
                     {.title = "SUPPRESSED", .align = Align::kRight, .leaves = 1},
                     {.title = "SUMMARIES", .align = Align::kRight, .leaves = 2}});
  const auto add = [](const object& channel, Table& rows) {
    const auto count = [&](std::string_view name) {
      return fmt::format("{}", number_of(channel, name));
    };
    const std::string breaker = text_of(channel, "breaker");
    const bool ok = breaker == "closed";
    rows.add({{text_of(channel, "name")},
              {text_of(channel, "type")},
              {ok ? "ok" : "left alone", ok ? &Colors::green : &Colors::red},
              {count("sent")},
              {count("failed")},
              {count("suppressed")},
              {count("summaries_sent")}});
  };
  return list_few(session, "/api/v1/notifications/channels", table, add,
                  "Notifications are switched off: retry.notify.enabled.");
}

std::string what_of(const object& entry) {
  const std::string task = text_of(entry, "task");
  if (!task.empty()) return task;
  const auto count = number_of(entry, "count");
  return count > 1 ? grouped(static_cast<std::size_t>(count)) + " of them"
                   : text_of(entry, "notice");
}

Table delivery_table(const boost::json::array& entries, TimePoint now) {
  Table table({{.title = "WHEN"},
               {.title = "RESULT"},
               {.title = "CHANNEL", .may_shrink = true},
               {.title = "EVENT"},
               {.title = "KIND", .may_shrink = true},
               {.title = "WHAT"},
               {.title = "TRIES", .align = Align::kRight},
               {.title = "WHY", .may_shrink = true}});
  for (const auto& item : entries) {
    const auto* entry = item.if_object();
    if (entry == nullptr) continue;
    const auto at = time_of(*entry, "at");
    const std::string result = text_of(*entry, "result");
    const std::string event = text_of(*entry, "event");
    table.add({{at ? relative(*at, now) : ""},
               {result, result == "failed" ? &Colors::red : nullptr},
               {text_of(*entry, "channel")},
               {event.empty() ? "several" : event},
               {text_of(*entry, "kind")},
               {what_of(*entry)},
               {fmt::format("{}", number_of(*entry, "tries"))},
               {text_of(*entry, "error")}});
  }
  return table;
}

struct DeliveryFlags {
  ListFlags list = {};
  std::string channel = {}, result = {}, event = {}, task = {};
};

ExitCode list_deliveries(Session& session, DeliveryFlags flags) {
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) flags.list.more.emplace_back(name, text);
  };
  add("channel", flags.channel);
  add("result", flags.result);
  add("event", flags.event);
  add("task", flags.task);
  return list_pages(session, "/api/v1/notifications/deliveries", flags.list, delivery_table,
                    "No such notices.");
}

void add_deliveries(CLI::App& group, const Tree& tree) {
  const auto flags = std::make_shared<DeliveryFlags>();
  CLI::App& list = add_command(
      group, "deliveries", "What became of notices, the newest first",
      {"recourse notify deliveries --result failed", "recourse notify deliveries --task tsk_01J...",
       "recourse notify deliveries --channel ops --all --json"});
  list.add_option("--channel", flags->channel, "Of this channel")->type_name("CHANNEL");
  list.add_option("--result", flags->result, "sent, failed or suppressed")->type_name("RESULT");
  list.add_option("--event", flags->event, "Of this event, such as dead_letter")
      ->type_name("EVENT");
  list.add_option("--task", flags->task, "About this task")->type_name("ID");
  add_page_flags(list, flags->list);
  runs(list, tree, [flags](Session& session) { return list_deliveries(session, *flags); });
}

struct TestFlags {
  std::string channel = {}, text = {};
};

ExitCode test_channel(Session& session, const TestFlags& flags) {
  object body;
  if (!flags.text.empty()) body["text"] = flags.text;
  const auto answer = session.call(
      http::Method::kPost,
      fmt::format("/api/v1/notifications/channels/{}/test", percent_encoded(flags.channel)),
      boost::json::serialize(body), kTestWithin);
  if (!answer) return session.exit_code();
  if (session.flags().json) session.print(*answer);
  session.say(flags.channel + " took it; see whether it arrived");
  return ExitCode::kOk;
}

}  // namespace

void add_notify_commands(const Tree& tree) {
  CLI::App& group = add_group(tree.program, "notify", "How people are told",
                              {"recourse notify channels", "recourse notify test ops",
                               "recourse notify deliveries --result failed"});
  runs(add_command(group, "channels", "The ways to reach people, and what this node sent there",
                   {"recourse notify channels"}),
       tree, list_channels);
  const auto flags = std::make_shared<TestFlags>();
  CLI::App& test = add_command(
      group, "test", "Send a message, and say what the channel answers",
      {"recourse notify test ops", "recourse notify test ops --text 'Is this the right room?'"});
  test.add_option("channel", flags->channel, "Which")->required()->type_name("CHANNEL");
  test.add_option("--text", flags->text, "What it says")->type_name("TEXT");
  runs(test, tree, [flags](Session& session) { return test_channel(session, *flags); });
  add_deliveries(group, tree);
}

}  // namespace recourse::cli
