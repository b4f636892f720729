#include "notify/channels/slack.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <utility>

#include "notify/escape.h"
#include "notify/wording.h"

namespace recourse::notify {
namespace {

namespace json = boost::json;

// What Block Kit allows.
constexpr std::size_t kHeaderCharacters = 150;
constexpr std::size_t kSectionCharacters = 3'000;
constexpr std::size_t kFieldsMax = 10;
constexpr std::size_t kFieldCharacters = 2'000;

json::object plain(std::string_view text, std::size_t characters_max) {
  return {
      {"type", "plain_text"}, {"text", cut_to_characters(text, characters_max)}, {"emoji", false}};
}

json::object section(json::object text) { return {{"type", "section"}, {"text", std::move(text)}}; }

}  // namespace

json::object slack_message(const Notice& notice) {
  json::array blocks;
  blocks.push_back(
      json::object{{"type", "header"}, {"text", plain(headline(notice), kHeaderCharacters)}});
  json::array fields;
  for (const Fact& fact : facts_of(notice)) {
    if (fields.size() == kFieldsMax) break;
    fields.push_back(plain(fact.label + "\n" + fact.value, kFieldCharacters));
  }
  blocks.push_back(json::object{{"type", "section"}, {"fields", std::move(fields)}});
  if (!notice.last_error.empty()) {
    blocks.push_back(section(plain(notice.last_error, kSectionCharacters)));
  }
  if (notice.more > 0) blocks.push_back(section(plain(more_line(notice), kSectionCharacters)));
  if (!notice.link.empty()) {
    blocks.push_back(
        section({{"type", "mrkdwn"},
                 {"text", fmt::format("<{}|Open the task>", escape_slack(notice.link))}}));
  }
  return {{"text", escape_slack(headline(notice))}, {"blocks", std::move(blocks)}};
}

Result<std::shared_ptr<Channel>> make_slack_channel(std::string name, Endpoint endpoint,
                                                    http::Client& client, const Clock& clock) {
  ChatFormat format{
      .vendor = "slack",
      .message = [](const Notice& notice, TimePoint) { return slack_message(notice); },
      // Slack says by the status whether it took the message.
      .judge = [](const std::string&) { return Result<>(); }};
  return make_chat_channel(std::move(name), std::move(endpoint), std::move(format), client, clock);
}

}  // namespace recourse::notify
