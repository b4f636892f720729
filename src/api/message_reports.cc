// What consumers say of messages whose broker has no adapter here.
#include <fmt/format.h>

#include <algorithm>

#include "api/fields.h"
#include "api/json_slices.h"
#include "api/message_bodies.h"
#include "api/submission.h"
#include "base/text.h"
#include "http/base64.h"
#include "policy/failure_router.h"

namespace recourse::api {
namespace {

// Of a consumer that does not name one.
constexpr std::string_view kOutsideSource = "http";
constexpr std::size_t kCodeCharactersMax = 100;
constexpr std::size_t kSqlStateBytes = 5;
constexpr std::size_t kTextBytesMax = std::size_t{64} * 1024;

std::string read_name(Fields& fields, std::string_view name, std::string text) {
  if (!text.empty() && (text.size() > task::kKeyBytesMax || !is_plain_text(text))) {
    fields.refuse(name, fmt::format("must be plain text of 1 to {} bytes", task::kKeyBytesMax));
  }
  return text;
}

// A source that this server consumes itself has one topic and one group.
void check_source(Fields& fields, const Desk& desk, MessageName& name) {
  if (!desk.messages.sources) return;
  const auto sources = desk.messages.sources();
  const auto known = std::ranges::find(sources, name.source, &SourceCard::name);
  if (known == sources.end()) return;
  if (name.tenant != known->tenant) {
    fields.refuse("source", fmt::format("{} is taken by a source of this server: choose another "
                                        "name for your own",
                                        shown(name.source)));
    return;
  }
  name.is_of_source = true;
  if (!name.group.empty() && name.group != known->group) {
    fields.refuse("group", fmt::format("is unknown: the group of the source {} is {}, not {}",
                                       shown(name.source), shown(known->group), shown(name.group)));
  }
  if (!name.topic.empty() && name.topic != known->topic) {
    fields.refuse("topic", fmt::format("is unknown: the topic of the source {} is {}, not {}",
                                       shown(name.source), shown(known->topic), shown(name.topic)));
  }
}

std::string read_message_body(Fields& fields, std::size_t bytes_max) {
  const auto as_text = fields.text("body");
  const auto as_base64 = fields.text("body_base64");
  std::string body = as_text.value_or("");
  if (as_text && as_base64) fields.refuse("body_base64", "cannot be given beside body");
  if (as_base64) {
    const auto bytes = http::from_base64(*as_base64);
    if (!bytes) fields.refuse("body_base64", "is not base 64 with its padding");
    body = bytes.value_or("");
  }
  if (body.size() > bytes_max) {
    fields.refuse(as_base64 ? "body_base64" : "body",
                  fmt::format("has {} bytes; at most {} are allowed", body.size(), bytes_max));
  }
  return body;
}

std::string read_words(Fields& fields, std::string_view name) {
  std::string text = fields.text(name).value_or("");
  if (text.size() > kTextBytesMax) {
    fields.refuse(name,
                  fmt::format("has {} bytes; at most {} are allowed", text.size(), kTextBytesMax));
  }
  return text;
}

std::vector<message::Header> read_headers(Fields& fields) {
  std::vector<message::Header> headers;
  for (auto& [name, value] :
       fields.texts_by_name("headers").value_or(std::map<std::string, std::string>())) {
    headers.push_back({name, value});
  }
  return headers;
}

// As the source's own rule: business errors never, SQL states 08 and what speaks of connections and
// time-outs always.
policy::Decision by_words(const std::string& type, const std::string& code,
                          const std::string& message) {
  static const policy::FailureRouter router = policy::message_router();
  if (type.ends_with("BusinessException")) {
    return policy::dead_letter(policy::Category::kUnknown, "BUSINESS_ERROR", message);
  }
  if (type.ends_with("ConnectException")) {
    return policy::retry(policy::Category::kIo, "IO_ERROR", message);
  }
  if (code.size() == kSqlStateBytes && code.starts_with("08")) {
    return router.decide(policy::SqlFailure{code, message});
  }
  return router.decide(policy::Declined{fmt::format("{} {} {}", type, code, message)});
}

}  // namespace

MessageName read_message_name(Fields& fields, const Desk& desk, const Call& call) {
  MessageName name;
  name.source =
      read_name(fields, "source", fields.text("source").value_or(std::string(kOutsideSource)));
  if (name.source.empty()) fields.refuse("source", "must not be empty; leave it out");
  name.group = read_name(fields, "group", fields.required_text("group"));
  name.topic = read_name(fields, "topic", fields.required_text("topic"));
  name.id = read_name(fields, "message_id", fields.required_text("message_id"));
  read_tenant(fields, call.caller, name.tenant);
  check_source(fields, desk, name);
  return name;
}

store::MessageKey key_of(const MessageName& name) {
  // No source's name has a line break.
  const std::string source = name.tenant.value.empty() || name.is_of_source
                                 ? name.source
                                 : name.tenant.value + "\n" + name.source;
  return message::key_of({.source = source, .group = name.group, .topic = name.topic}, name.id);
}

policy::Decision decide(const ReportedFailure& failure) {
  const std::string& type = failure.detail.exception_type;
  policy::Decision decision = by_words(type, failure.error_code, failure.error_message);
  if (failure.retryable) {
    decision.outcome = *failure.retryable ? policy::Outcome::kRetry : policy::Outcome::kDeadLetter;
  }
  if (!failure.error_code.empty()) decision.code = one_line(failure.error_code, kCodeCharactersMax);
  const std::string& words = failure.error_message.empty() ? type : failure.error_message;
  if (!words.empty()) decision.message = clean_text(words, kErrorCharactersMax);
  return decision;
}

ReportedFailure read_reported_failure(const boost::json::object& body, const Desk& desk,
                                      const Call& call, std::vector<FieldError>& errors) {
  ReportedFailure failure;
  Fields fields(body, "", errors);
  failure.kind = task::Kind(fields.required_text("kind"));
  if (!failure.kind.value.empty() && !is_message_kind(desk, failure.kind.value)) {
    fields.refuse("kind", unknown_message_kind(desk, failure.kind.value));
  }
  failure.name = read_message_name(fields, desk, call);
  message::Envelope& envelope = failure.envelope;
  envelope.source = failure.name.source;
  envelope.group = failure.name.group;
  envelope.topic = failure.name.topic;
  envelope.id = failure.name.id;
  envelope.tags = read_name(fields, "tags", fields.text("tags").value_or(""));
  envelope.key = read_name(fields, "key", fields.text("key").value_or(""));
  envelope.business_id = read_name(fields, "business_id", fields.text("business_id").value_or(""));
  envelope.headers = read_headers(fields);
  envelope.published_at = fields.time("published_at");
  failure.body = read_message_body(fields, desk.limits.payload_bytes);
  failure.error_code = read_words(fields, "error_code");
  failure.error_message = read_words(fields, "error_message");
  failure.detail.exception_type = read_words(fields, "exception_type");
  failure.detail.consumer_ip = read_words(fields, "consumer_ip");
  failure.detail.stack_trace = read_words(fields, "stack_trace");
  if (fields.object("custom_data") != nullptr) {
    failure.detail.custom_data =
        std::string(member_of(call.request.body, "custom_data").value_or(""));
  }
  failure.retryable = fields.boolean("retryable");
  if (failure.error_message.empty() && failure.detail.exception_type.empty() &&
      failure.error_code.empty()) {
    fields.refuse("error_message", "must be given, or exception_type or error_code: what failed?");
  }
  fields.refuse_others();
  return failure;
}

}  // namespace recourse::api
