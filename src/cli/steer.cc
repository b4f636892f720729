#include "cli/steer.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/display_text.h"
#include "cli/json_read.h"
#include "cli/url_text.h"

namespace recourse::cli {
namespace {

constexpr std::size_t kIdsMax = 1'000;

ExitCode steer_one(Session& session, const Steering& steering, const SteerFlags& flags,
                   const std::string& id) {
  boost::json::object body;
  if (!flags.reason.empty()) body["reason"] = flags.reason;
  const auto answer = session.call(
      http::Method::kPost, fmt::format("/api/v1/tasks/{}/{}", percent_encoded(id), steering.action),
      boost::json::serialize(body));
  if (!answer) return session.exit_code();
  if (session.flags().json) session.print(*answer);
  const bool later = text_of(*answer, "effect") == "requested";
  session.say(
      later ? fmt::format("{}: {} is asked for; whoever runs it does so next", id, steering.action)
            : fmt::format("{} is {}", id, steering.done));
  return ExitCode::kOk;
}

struct Sum {
  boost::json::array items = {};
  std::size_t refused = 0;
  ExitCode first = ExitCode::kOk;
};

ExitCode code_of(std::string_view name) {
  for (const ErrorCode code :
       {ErrorCode::kInvalid, ErrorCode::kNotFound, ErrorCode::kConflict, ErrorCode::kExhausted,
        ErrorCode::kUnavailable, ErrorCode::kInDoubt, ErrorCode::kCorrupt}) {
    if (to_string(code) == name) return exit_code_of(code);
  }
  return ExitCode::kFailure;
}

void add_up(Session& session, const boost::json::object& answer, Sum& sum) {
  for (const auto& item : array_of(answer, "items")) {
    sum.items.push_back(item);
    const auto* object = item.if_object();
    if (object == nullptr || !object->contains("error")) continue;
    const auto& error = object_of(*object, "error");
    if (sum.refused++ == 0) sum.first = code_of(text_of(error, "code"));
    if (!session.flags().json) {
      session.complain(ExitCode::kOk,
                       printable(text_of(*object, "id") + ": " + text_of(error, "detail")));
    }
  }
}

}  // namespace

std::vector<std::string> read_ids(const std::vector<std::string>& given, std::istream& in) {
  std::vector<std::string> ids;
  for (const std::string& id : given) {
    if (id != "-") {
      ids.push_back(id);
      continue;
    }
    std::string word;
    while (in >> word) ids.push_back(word);
  }
  return ids;
}

ExitCode steer_by_ids(Session& session, const Steering& steering, const SteerFlags& flags) {
  const std::vector<std::string> ids = read_ids(flags.ids, session.terminal().in);
  if (flags.dry_run) {
    session.say(fmt::format("{} {} by id; nothing was done", steering.does, ids.size()));
    return ExitCode::kOk;
  }
  if (ids.size() == 1) return steer_one(session, steering, flags, ids.front());
  Sum sum;
  for (std::size_t i = 0; i < ids.size(); i += kIdsMax) {
    boost::json::object body{{"action", steering.action}};
    if (!flags.reason.empty()) body["reason"] = flags.reason;
    boost::json::array& part = body["ids"].emplace_array();
    for (std::size_t j = i; j < std::min(ids.size(), i + kIdsMax); ++j) part.emplace_back(ids[j]);
    const auto answer =
        session.call(http::Method::kPost, "/api/v1/bulk", boost::json::serialize(body));
    if (!answer) return session.exit_code();
    add_up(session, *answer, sum);
  }
  const std::size_t all = sum.items.size();
  if (session.flags().json) {
    session.print(boost::json::object{{"items", sum.items}, {"refused", sum.refused}});
  }
  session.say(fmt::format("{} {}, {} refused", all - sum.refused, steering.done, sum.refused));
  if (sum.refused == 0) return ExitCode::kOk;
  return sum.refused == all ? sum.first : ExitCode::kPartlyDone;
}

ExitCode steer(Session& session, const Steering& steering, const SteerFlags& flags) {
  if (!flags.ids.empty() && !flags.filter.empty()) {
    return session.complain(ExitCode::kUsage,
                            "give ids, or choose by --state, --kind and --key, and not both");
  }
  if (!flags.ids.empty()) return steer_by_ids(session, steering, flags);
  if (!flags.filter.empty()) return steer_by_filter(session, steering, flags);
  return session.complain(ExitCode::kUsage,
                          fmt::format("nothing to {}: give ids, or choose by --state, --kind or "
                                      "--key",
                                      steering.action));
}

}  // namespace recourse::cli
