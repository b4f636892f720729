#include "notify/channels/feishu.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <utility>

#include "http/base64.h"
#include "http/hmac.h"
#include "notify/wording.h"

namespace recourse::notify {
namespace {

namespace json = boost::json;

// A request may have 20 kB; texts in JSON grow a little.
constexpr std::size_t kErrorBytes = 12'000;
constexpr std::size_t kFeishuFactsMax = 12;
constexpr std::size_t kFeishuFactBytes = 300;
// Too many at once, and too busy.
constexpr std::int64_t kFeishuTooOften = 9499;
constexpr std::int64_t kFeishuRateLimited = 11232;

json::object plain(std::string_view text) { return {{"tag", "plain_text"}, {"content", text}}; }

std::string_view color_of(Severity severity) {
  switch (severity) {
    case Severity::kInfo: return "blue";
    case Severity::kWarning: return "orange";
    case Severity::kError: return "red";
    case Severity::kCritical: return "carmine";
  }
  std::abort();
}

json::object div(std::string_view text) { return {{"tag", "div"}, {"text", plain(text)}}; }

json::array elements_of(const Notice& notice) {
  json::array fields;
  for (const Fact& fact : facts_of(notice)) {
    if (fields.size() == kFeishuFactsMax) break;
    fields.push_back({{"is_short", true},
                      {"text", plain(cut_to_bytes(fmt::format("{}\n{}", fact.label, fact.value),
                                                  kFeishuFactBytes))}});
  }
  json::array elements;
  elements.push_back({{"tag", "div"}, {"fields", std::move(fields)}});
  if (!notice.last_error.empty())
    elements.push_back(div(cut_to_bytes(notice.last_error, kErrorBytes)));
  if (notice.more > 0) elements.push_back(div(more_line(notice)));
  if (!notice.link.empty()) {
    const json::object button{{"tag", "button"},
                              {"text", plain("Open the task")},
                              {"type", "default"},
                              {"url", notice.link}};
    elements.push_back({{"tag", "action"}, {"actions", json::array{button}}});
  }
  return elements;
}

}  // namespace

// The secret is part of the key and the text is empty: unusual, and what Feishu documents.
json::object feishu_message(const Notice& notice, const std::string& secret, TimePoint now) {
  const json::object header{{"title", plain(cut_to_bytes(headline(notice), kFeishuFactBytes))},
                            {"template", color_of(severity_of(notice))}};
  json::object message{{"msg_type", "interactive"},
                       {"card", json::object{{"config", json::object{{"wide_screen_mode", true}}},
                                             {"header", header},
                                             {"elements", elements_of(notice)}}}};
  if (secret.empty()) return message;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  message["timestamp"] = std::to_string(seconds);
  message["sign"] = http::to_base64(http::hmac_sha256(fmt::format("{}\n{}", seconds, secret), ""));
  return message;
}

Result<std::shared_ptr<Channel>> make_feishu_channel(std::string name, ChatSettings settings,
                                                     http::Client& client, const Clock& clock) {
  ChatFormat format{.vendor = "feishu",
                    .message = [secret = settings.secret](
                                   const Notice& notice,
                                   TimePoint now) { return feishu_message(notice, secret, now); },
                    .judge =
                        [](const std::string& body) {
                          // Old answers have `StatusCode` alone, newer ones `code`, most have both.
                          return judge_coded_answer(
                              body, {.code = {"code", "StatusCode"},
                                     .message = {"msg", "StatusMessage"},
                                     .passing = {kFeishuTooOften, kFeishuRateLimited}});
                        }};
  return make_chat_channel(std::move(name), std::move(settings.endpoint), std::move(format), client,
                           clock);
}

}  // namespace recourse::notify
