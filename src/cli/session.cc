#include "cli/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "base/duration_text.h"
#include "base/text.h"
#include "cli/display_text.h"
#include "cli/problem_text.h"

namespace recourse::cli {
namespace {

constexpr std::string_view kUsualServer = "http://127.0.0.1:7070";
constexpr std::size_t kAnswerBytesMax = std::size_t{64} * 1024 * 1024;
// A stream lasts until somebody ends it.
constexpr Duration kForGood = std::chrono::hours(24 * 365);

Result<std::string> read_token(const std::string& path) {
  std::ifstream file(path);
  std::string token;
  std::getline(file, token);
  token.erase(token.find_last_not_of(" \t\r") + 1);
  if (!token.empty()) return token;
  return fail(ErrorCode::kInvalid,
              fmt::format("{} holds no token that can be read: correct --token-file", shown(path)));
}

Result<std::string> server_of(const ApiFlags& flags, const Terminal& terminal) {
  std::string server = flags.server;
  if (server.empty()) server = terminal.variable("RECOURSE_SERVER").value_or("");
  if (server.empty()) server = kUsualServer;
  while (server.ends_with('/')) server.pop_back();
  if (server.starts_with("http://") || server.starts_with("https://")) return server;
  return fail(ErrorCode::kInvalid, fmt::format("{} is no address of a server: write it as {}",
                                               shown(server), kUsualServer));
}

bool is_this_machine(std::string_view server) {
  for (const std::string_view host : {"http://127.", "http://localhost", "http://[::1]"}) {
    if (server.starts_with(host)) return true;
  }
  return false;
}

}  // namespace

Session::Session(ApiFlags flags, Terminal& terminal)
    : flags_(std::move(flags)), terminal_(terminal), colors_(terminal.colors(flags_.no_color)) {}

Result<Session> Session::open(const ApiFlags& flags, Terminal& terminal) {
  Session session(flags, terminal);
  if (Result<> taken = session.take_flags(); !taken) return fail(taken.error());
  auto client = http::Client::open({.connections_max = 4, .user_agent = "recourse-cli"});
  if (!client) return fail(client.error());
  session.client_ = *std::move(client);
  if (!session.token_.empty() && session.server_.starts_with("http://") &&
      !is_this_machine(session.server_)) {
    session.say("warning: the token goes unencrypted to " + session.server_ + ": use https");
  }
  return session;
}

Result<> Session::take_flags() {
  Result<std::string> server = server_of(flags_, terminal_);
  if (!server) return fail(server.error());
  server_ = *std::move(server);
  const Result<Duration> timeout = parse_duration("--request-timeout", flags_.timeout);
  if (!timeout) return fail(timeout.error());
  timeout_ = *timeout;
  if (flags_.token_file.empty()) {
    token_ = terminal_.variable("RECOURSE_TOKEN").value_or("");
    return {};
  }
  Result<std::string> token = read_token(flags_.token_file);
  if (!token) return fail(token.error());
  token_ = *std::move(token);
  return {};
}

http::Call Session::request(http::Method method, const std::string& path, std::string body) const {
  http::Call call{.method = method,
                  .url = server_ + path,
                  .headers = {{"Accept", "application/json"}},
                  .body = std::move(body),
                  .timeout = timeout_,
                  .answer_bytes_max = kAnswerBytesMax};
  if (!call.body.empty()) call.headers.set("Content-Type", "application/json");
  if (!token_.empty()) call.headers.set("Authorization", "Bearer " + token_);
  return call;
}

std::optional<boost::json::object> Session::read(http::CallResult result) {
  if (const auto* failed = std::get_if<http::CallFailed>(&result)) {
    const bool wrong_flag = failed->trouble == http::CallTrouble::kForbidden;
    exit_code_ = wrong_flag ? ExitCode::kUsage : ExitCode::kDown;
    trouble_ = trouble_text(*failed, server_);
    return std::nullopt;
  }
  const auto& answer = std::get<http::Answer>(result);
  if (answer.status < 200 || answer.status >= 300) {
    exit_code_ = exit_code_of_status(answer.status);
    trouble_ = problem_text(answer.status, answer.body, server_);
    return std::nullopt;
  }
  if (answer.body.empty()) return boost::json::object();
  boost::json::error_code error;
  boost::json::value body = boost::json::parse(answer.body, error);
  if (!error && body.is_object()) return std::move(body.as_object());
  exit_code_ = ExitCode::kFailure;
  trouble_ = fmt::format("{} does not answer like a server of Recourse: correct --server", server_);
  return std::nullopt;
}

std::optional<boost::json::object> Session::try_get(const std::string& path) {
  return read(fetch(*client_, request(http::Method::kGet, path)));
}

std::optional<boost::json::object> Session::get(const std::string& path) {
  auto answer = try_get(path);
  if (!answer) complain(exit_code_, trouble_);
  return answer;
}

std::optional<boost::json::object> Session::call(http::Method method, const std::string& path,
                                                 std::string body, Duration at_least) {
  http::Call call = request(method, path, std::move(body));
  call.timeout = std::max(call.timeout, at_least);
  auto answer = read(fetch(*client_, std::move(call)));
  if (!answer) complain(exit_code_, trouble_);
  return answer;
}

bool Session::follow(const std::string& path, std::function<bool(std::string_view)> on_piece) {
  http::Call call = request(http::Method::kGet, path);
  call.headers.set("Accept", "text/event-stream");
  call.timeout = kForGood;
  call.on_piece = std::move(on_piece);
  const http::CallResult result = fetch(*client_, std::move(call));
  const auto* failed = std::get_if<http::CallFailed>(&result);
  if (failed != nullptr && failed->trouble == http::CallTrouble::kStopped) return true;
  const auto* answer = std::get_if<http::Answer>(&result);
  if (answer != nullptr && answer->status == 200) return true;
  (void)read(result);
  return false;
}

ExitCode Session::complain(ExitCode code, std::string_view text) {
  terminal_.err << "recourse: " << text << '\n';
  return code;
}

void Session::say(std::string_view text) {
  if (!flags_.quiet && !flags_.json) terminal_.err << text << '\n';
}

void Session::print(const boost::json::value& value) { terminal_.out << value << '\n'; }

void Session::print(const Table& table) {
  terminal_.out << table.render(terminal_.out_width(), colors_);
}

}  // namespace recourse::cli
