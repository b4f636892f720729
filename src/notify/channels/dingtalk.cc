#include "notify/channels/dingtalk.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <utility>

#include "http/base64.h"
#include "http/hmac.h"
#include "notify/channels/chat_markdown.h"
#include "notify/escape.h"
#include "notify/wording.h"

namespace recourse::notify {
namespace {

namespace json = boost::json;

// A message may have 20,000 bytes.
constexpr std::size_t kTextBytes = 15'000;
constexpr std::size_t kTitleBytes = 200;
// Busy, and more than 20 in a minute.
constexpr std::int64_t kDingtalkBusy = -1;
constexpr std::int64_t kDingtalkTooOften = 130101;
constexpr std::int64_t kDingtalkRateLimited = 410100;

}  // namespace

json::object dingtalk_message(const Notice& notice) {
  return {{"msgtype", "markdown"},
          {"markdown", json::object{{"title", cut_to_bytes(headline(notice), kTitleBytes)},
                                    // A line ends with two blanks or an empty line there.
                                    {"text", chat_markdown(notice, {.bytes_max = kTextBytes,
                                                                    .line_end = "\n\n"})}}}};
}

std::string dingtalk_signature(const std::string& secret, TimePoint now) {
  if (secret.empty()) return {};
  const auto since_1970 = std::chrono::floor<std::chrono::milliseconds>(now).time_since_epoch();
  const std::string timestamp = std::to_string(since_1970.count());
  const std::string signature =
      http::to_base64(http::hmac_sha256(secret, fmt::format("{}\n{}", timestamp, secret)));
  return fmt::format("timestamp={}&sign={}", timestamp, escape_query(signature));
}

Result<std::shared_ptr<Channel>> make_dingtalk_channel(std::string name, ChatSettings settings,
                                                       http::Client& client, const Clock& clock) {
  ChatFormat format{
      .vendor = "dingtalk",
      .message = [](const Notice& notice, TimePoint) { return dingtalk_message(notice); },
      .query = [secret =
                    settings.secret](TimePoint now) { return dingtalk_signature(secret, now); },
      .judge =
          [](const std::string& body) {
            return judge_coded_answer(
                body, {.code = {"errcode"},
                       .message = {"errmsg"},
                       .passing = {kDingtalkBusy, kDingtalkTooOften, kDingtalkRateLimited}});
          }};
  return make_chat_channel(std::move(name), std::move(settings.endpoint), std::move(format), client,
                           clock);
}

}  // namespace recourse::notify
