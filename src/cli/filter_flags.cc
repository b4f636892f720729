#include "cli/filter_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "cli/command.h"

namespace recourse::cli {

void add_kind_and_key_flags(CLI::App& command, FilterFlags& flags) {
  command.add_option("--kind", flags.kinds, "Only of this kind; several with commas")
      ->type_name("KIND")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--key", flags.key, "Only with this search key")->type_name("NAME=VALUE");
  refuse_empty_values(command);
}

void add_filter_flags(CLI::App& command, FilterFlags& flags) {
  command
      .add_option("--state", flags.states,
                  "Only in this state: pending, running, paused, dead, failed, succeeded, "
                  "cancelled, resolved, ignored; several with commas")
      ->type_name("STATE")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_kind_and_key_flags(command, flags);
}

Result<std::pair<std::string, std::string>> split_key(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return fail(ErrorCode::kInvalid,
                fmt::format("--key {} has no name: write it as --key order=4711", shown(text)));
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Result<Parameters> to_parameters(const FilterFlags& flags) {
  Parameters parameters;
  for (const std::string& state : flags.states) parameters.emplace_back("state", state);
  for (const std::string& kind : flags.kinds) parameters.emplace_back("kind", kind);
  if (flags.key.empty()) return parameters;
  auto key = split_key(flags.key);
  if (!key) return fail(key.error());
  parameters.emplace_back("key." + key->first, key->second);
  return parameters;
}

Result<boost::json::object> to_filter(const FilterFlags& flags) {
  boost::json::object filter;
  const auto put = [&](std::string_view name, const std::vector<std::string>& texts) {
    if (texts.empty()) return;
    boost::json::array& list = filter[name].emplace_array();
    for (const std::string& text : texts) list.emplace_back(text);
  };
  put("state", flags.states);
  put("kind", flags.kinds);
  if (flags.key.empty()) return filter;
  const auto key = split_key(flags.key);
  if (!key) return fail(key.error());
  filter["keys"] = {{key->first, key->second}};
  return filter;
}

std::string describe(const FilterFlags& flags, std::size_t how_many) {
  std::string text = how_many == 1 ? "task" : "tasks";
  if (!flags.states.empty()) text = fmt::format("{} {}", fmt::join(flags.states, " or "), text);
  if (!flags.kinds.empty()) text += fmt::format(" of {}", fmt::join(flags.kinds, " or "));
  if (!flags.key.empty()) text += " with " + flags.key;
  return text;
}

}  // namespace recourse::cli
