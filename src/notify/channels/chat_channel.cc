#include "notify/channels/chat_channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

namespace recourse::notify {
namespace {

namespace json = boost::json;

class ChatChannel final : public Channel {
 public:
  ChatChannel(std::string name, Endpoint endpoint, ChatFormat format, http::Client& client,
              const Clock& clock)
      : name_(std::move(name)),
        endpoint_(std::move(endpoint)),
        format_(std::move(format)),
        client_(client),
        clock_(clock) {}

  [[nodiscard]] const std::string& name() const override { return name_; }

  Result<> send(const Notice& notice, std::stop_token stop) override {
    const TimePoint now = clock_.now();
    http::Call call;
    call.headers.add("Content-Type", "application/json; charset=utf-8");
    call.body = json::serialize(format_.message(notice, now));
    call.url = endpoint_.url;
    if (const std::string query = format_.query ? format_.query(now) : ""; !query.empty()) {
      call.url += (call.url.find('?') == std::string::npos ? '?' : '&') + query;
    }
    const Result<http::Answer> answer = post(client_, endpoint_, std::move(call), stop);
    if (!answer) return fail(answer.error());
    return format_.judge(answer->body);
  }

 private:
  const std::string name_;
  const Endpoint endpoint_;
  const ChatFormat format_;
  http::Client& client_;
  const Clock& clock_;
};

const json::value* find_first(const json::value& answer,
                              const std::vector<std::string_view>& names) {
  const json::object* fields = answer.if_object();
  if (fields == nullptr) return nullptr;
  for (const std::string_view name : names) {
    if (const json::value* found = fields->if_contains(name)) return found;
  }
  return nullptr;
}

}  // namespace

Result<std::shared_ptr<Channel>> make_chat_channel(std::string name, Endpoint endpoint,
                                                   ChatFormat format, http::Client& client,
                                                   const Clock& clock) {
  if (const Result<> valid = validate(format.vendor, endpoint); !valid) return fail(valid.error());
  if (endpoint.url.find('#') != std::string::npos) {
    return fail(ErrorCode::kInvalid, format.vendor + ".url must be without a #");
  }
  return std::shared_ptr<Channel>(std::make_shared<ChatChannel>(
      std::move(name), std::move(endpoint), std::move(format), client, clock));
}

Result<> judge_coded_answer(const std::string& body, const CodedAnswer& format) {
  boost::system::error_code failed;
  const json::value answer = json::parse(body, failed);
  const json::value* code = failed ? nullptr : find_first(answer, format.code);
  if (code == nullptr || !code->is_int64()) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("it answered 200 without saying whether it took the message: {}",
                            quoted_answer(body)));
  }
  const std::int64_t number = code->as_int64();
  if (number == 0) return {};
  const json::value* message = find_first(answer, format.message);
  const bool has_text = message != nullptr && message->is_string();
  const bool passes = std::ranges::find(format.passing, number) != format.passing.end();
  return fail(passes ? ErrorCode::kUnavailable : ErrorCode::kInvalid,
              fmt::format("it refused the message: {} {}", number,
                          has_text ? quoted_answer(std::string(message->as_string())) : ""));
}

}  // namespace recourse::notify
