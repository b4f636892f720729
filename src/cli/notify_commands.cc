// notify channels, test: how people are told.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/json_read.h"
#include "cli/list_run.h"
#include "cli/url_text.h"

namespace recourse::cli {
namespace {

using boost::json::object;

// A channel may take ten seconds, and its answer must still arrive.
constexpr Duration kTestWithin = std::chrono::seconds(15);

ExitCode list_channels(Session& session) {
  const Table table({{.title = "NAME", .may_shrink = true},
                     {.title = "TYPE"},
                     {.title = "CONDITION"},
                     {.title = "SENT", .align = Align::kRight},
                     {.title = "FAILED", .align = Align::kRight},
                     {.title = "SUPPRESSED", .align = Align::kRight},
                     {.title = "SUMMARIES", .align = Align::kRight}});
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
                              {"recourse notify channels", "recourse notify test ops"});
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
}

}  // namespace recourse::cli
