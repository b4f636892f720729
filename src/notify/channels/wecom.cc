#include "notify/channels/wecom.h"

#include <boost/json.hpp>
#include <utility>

#include "notify/channels/chat_markdown.h"

namespace recourse::notify {
namespace {

// Busy, and more than 20 in a minute.
constexpr std::int64_t kWecomBusy = -1;
constexpr std::int64_t kWecomTooOften = 45009;

}  // namespace

boost::json::object wecom_message(const Notice& notice) {
  return {{"msgtype", "markdown"},
          {"markdown",
           boost::json::object{{"content", chat_markdown(notice, {.bytes_max = kWecomBytesMax,
                                                                  .line_end = "\n"})}}}};
}

Result<std::shared_ptr<Channel>> make_wecom_channel(std::string name, Endpoint endpoint,
                                                    http::Client& client, const Clock& clock) {
  ChatFormat format{
      .vendor = "wecom",
      .message = [](const Notice& notice, TimePoint) { return wecom_message(notice); },
      .judge =
          [](const std::string& body) {
            return judge_coded_answer(body, {.code = {"errcode"},
                                             .message = {"errmsg"},
                                             .passing = {kWecomBusy, kWecomTooOften}});
          }};
  return make_chat_channel(std::move(name), std::move(endpoint), std::move(format), client, clock);
}

}  // namespace recourse::notify
