#include "cli/problem_text.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "cli/display_text.h"
#include "cli/json_read.h"

namespace recourse::cli {
namespace {

// /search_keys/order is a path into JSON that the user never saw; the last words are enough.
std::string field_name(std::string_view pointer) {
  if (pointer.starts_with('/') || pointer.starts_with('?')) pointer.remove_prefix(1);
  return printable(pointer);
}

std::string advice(int status, std::string_view server) {
  switch (status) {
    case 401: return "Set RECOURSE_TOKEN, or name a file that holds the token with --token-file.";
    case 403: return "Ask an admin for a token of that role: recourse token create.";
    case 421: return "Name the server as it knows itself with --server.";
    case 429:
    case 503:
      return "Try again in a moment; recourse doctor --server " + std::string(server) +
             " says more.";
    default: return {};
  }
}

}  // namespace

std::string problem_text(int status, std::string_view body, std::string_view server) {
  boost::json::error_code error;
  const boost::json::value parsed = boost::json::parse(body, error);
  const auto* problem = error ? nullptr : parsed.if_object();
  if (problem == nullptr || !problem->contains("title")) {
    return fmt::format("{} answered {} in a way that is not Recourse's: correct --server", server,
                       status);
  }
  const std::string detail = printable(text_of(*problem, "detail"));
  std::string text = detail.empty() ? printable(text_of(*problem, "title")) : detail;
  const auto& fields = array_of(*problem, "errors");
  for (const auto& item : fields) {
    const auto* field = item.if_object();
    if (field == nullptr) continue;
    const std::string name = field_name(text_of(*field, "pointer"));
    const std::string wrong = printable(text_of(*field, "detail"));
    const std::string line = name + (name.empty() ? "" : " ") + wrong;
    // The server tells of a single field in its detail too.
    const bool is_told = fields.size() == 1 && detail.ends_with(wrong);
    text = is_told ? line : text + "\n  " + line;
  }
  if (const std::string next = advice(status, server); !next.empty()) text += "\n" + next;
  return text;
}

std::string trouble_text(const http::CallFailed& failed, std::string_view server) {
  switch (failed.trouble) {
    case http::CallTrouble::kUnreachable:
      return fmt::format(
          "no server answers at {}: start one with `recourse serve`, or name it with --server\n"
          "  ({})",
          server, printable(failed.message));
    case http::CallTrouble::kBroken:
      return fmt::format(
          "{} ended the connection before its answer; what was asked for may have happened all the "
          "same: look before you repeat it, and check that the address is a Recourse server's\n  "
          "({})",
          server, printable(failed.message));
    case http::CallTrouble::kTimedOut:
      return fmt::format(
          "{} took too long; what was asked for may have happened all the same: look before you "
          "repeat it, or wait longer with --request-timeout",
          server);
    case http::CallTrouble::kUntrusted:
      return fmt::format(
          "{} cannot prove who it is: correct its certificate, or the machine's authorities\n"
          "  ({})",
          server, printable(failed.message));
    case http::CallTrouble::kForbidden:
      return fmt::format("this cannot be called: {}; correct --server", printable(failed.message));
    case http::CallTrouble::kStopped: return "stopped";
  }
  std::abort();
}

}  // namespace recourse::cli
