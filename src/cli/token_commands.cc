// token create, list, revoke.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <vector>

#include "cli/commands.h"
#include "cli/confirm.h"
#include "cli/display_text.h"
#include "cli/json_read.h"
#include "cli/list_run.h"
#include "cli/url_text.h"
#include "cli/when.h"

namespace recourse::cli {
namespace {

struct CreateFlags {
  std::string name = {}, role = {}, tenant = {}, expires_in = {};
};

struct RevokeFlags {
  // An id or a name.
  std::string which = {};
  bool yes = false;
  bool force = false;
};

ExitCode create(Session& session, const CreateFlags& flags) {
  boost::json::object body{{"name", flags.name}, {"role", flags.role}};
  if (!flags.tenant.empty()) body["tenant"] = flags.tenant;
  if (!flags.expires_in.empty()) body["expires_in"] = flags.expires_in;
  const auto answer =
      session.call(http::Method::kPost, "/api/v1/tokens", boost::json::serialize(body));
  if (!answer) return session.exit_code();
  if (session.flags().json) {
    session.print(*answer);
    return ExitCode::kOk;
  }
  session.terminal().out << text_of(*answer, "token") << '\n';
  session.say(
      fmt::format("This is shown once: keep it in a file, or in RECOURSE_TOKEN. Its id is {}.",
                  text_of(*answer, "id")));
  return ExitCode::kOk;
}

ExitCode list_tokens(Session& session) {
  const Table table({{.title = "ID"},
                     {.title = "NAME", .may_shrink = true},
                     {.title = "ROLE"},
                     {.title = "TENANT"},
                     {.title = "CREATED"},
                     {.title = "EXPIRES"},
                     {.title = "BY", .may_shrink = true}});
  const auto add = [&](const boost::json::object& token, Table& rows) {
    const auto created = time_of(token, "created_at");
    const auto expires = time_of(token, "expires_at");
    rows.add_texts({text_of(token, "id"), text_of(token, "name"), text_of(token, "role"),
                    text_of(token, "tenant"), created ? relative(*created, session.now()) : "",
                    expires ? relative(*expires, session.now()) : "never",
                    text_of(token, "created_by")});
  };
  return list_few(session, "/api/v1/tokens", table, add, "No tokens were created here.");
}

Result<std::string> id_of(const boost::json::array& tokens, const std::string& which) {
  std::vector<std::string> ids;
  for (const auto& item : tokens) {
    const auto* token = item.if_object();
    if (token == nullptr) continue;
    if (text_of(*token, "id") == which) return which;
    if (text_of(*token, "name") == which) ids.push_back(text_of(*token, "id"));
  }
  if (ids.size() == 1) return ids.front();
  if (ids.empty()) return fail(ErrorCode::kNotFound, "there is no token " + printable(which));
  return fail(ErrorCode::kInvalid,
              fmt::format("several tokens are called {}: name one by its id, {}", printable(which),
                          fmt::join(ids, " or ")));
}

ExitCode revoke(Session& session, const RevokeFlags& flags) {
  Terminal& terminal = session.terminal();
  const auto listed = session.get("/api/v1/tokens");
  if (!listed) return session.exit_code();
  const Result<std::string> id = id_of(array_of(*listed, "items"), flags.which);
  if (!id) return session.complain(exit_code_of(id.error().code), id.error().message);
  const std::string token = *id == flags.which ? *id : fmt::format("{} ({})", flags.which, *id);
  const Question question{.what = "Takes the token " + token + " away for good."};
  const Asking asking{.assumed = flags.yes,
                      .is_terminal = terminal.in_is_terminal && terminal.err_is_terminal};
  switch (confirm(question, asking, terminal.in, terminal.err)) {
    case Confirmed::kYes: break;
    case Confirmed::kNo: session.say("Nothing was done."); return ExitCode::kFailure;
    case Confirmed::kNobodyToAsk: return ExitCode::kUsage;
  }
  const auto answer = session.call(
      http::Method::kDelete,
      "/api/v1/tokens/" + percent_encoded(*id) + (flags.force ? "?force=true" : ""), "");
  if (!answer) return session.exit_code();
  session.say(token + " is taken away");
  return ExitCode::kOk;
}

}  // namespace

void add_token_commands(const Tree& tree) {
  CLI::App& group = add_group(tree.program, "token", "Who may use the API",
                              {"recourse token create ci --role operator", "recourse token list"});
  const auto flags = std::make_shared<CreateFlags>();
  CLI::App& make = add_command(group, "create", "Make a token; it is shown once",
                               {"recourse token create ci --role operator > ci.token",
                                "recourse token create audit --role viewer --expires-in 30d"});
  make.add_option("name", flags->name, "What the audit calls its holder")
      ->required()
      ->type_name("NAME");
  make.add_option("--role", flags->role, "viewer, operator or admin")
      ->required()
      ->type_name("ROLE");
  make.add_option("--tenant", flags->tenant, "For the tasks of one tenant only")->type_name("NAME");
  make.add_option("--expires-in", flags->expires_in, "How long it is good for (default: for ever)")
      ->type_name("DURATION");
  runs(make, tree, [flags](Session& session) { return create(session, *flags); });

  runs(add_command(group, "list", "Those that were created, without their secrets",
                   {"recourse token list"}),
       tree, list_tokens);

  const auto which = std::make_shared<RevokeFlags>();
  CLI::App& remove = add_command(group, "revoke", "Take a token away",
                                 {"recourse token revoke ci", "recourse token revoke tok_01J..."});
  remove.add_option("token", which->which, "Its name or its id")->required()->type_name("TOKEN");
  remove.add_flag("--force", which->force, "The last admin's too: nobody could make another");
  remove.add_flag("-y,--yes", which->yes, "Do not ask");
  runs(remove, tree, [which](Session& session) { return revoke(session, *which); });
}

}  // namespace recourse::cli
