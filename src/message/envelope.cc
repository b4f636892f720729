#include "message/envelope.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <utility>

#include "base/field_checks.h"
#include "base/rfc3339.h"
#include "base/stable_hash.h"
#include "base/text.h"
#include "message/header_text.h"

namespace recourse::message {
namespace {

// Names of a task's headers. They go out with HTTP attempts too.
constexpr std::string_view kOwn = "message-";
constexpr std::string_view kPublishers = "message-header-";
// Longer ones are left out: what is long is no key that somebody could look for.
constexpr std::size_t kKeyKeptMax = 1'024;
constexpr std::size_t kTagsKeptMax = 255;

constexpr std::array kAllOrigins{IdOrigin::kPublisher, IdOrigin::kPosition, IdOrigin::kBodyHash};

constexpr std::string_view word_of(IdOrigin origin) {
  switch (origin) {
    case IdOrigin::kPublisher: return "publisher";
    case IdOrigin::kPosition: return "position";
    case IdOrigin::kBodyHash: return "body-hash";
  }
  std::abort();
}

std::string hash_text(std::string_view bytes) {
  std::string text;
  for (const std::uint8_t byte : stable_hash(bytes)) text += fmt::format("{:02x}", byte);
  return text;
}

std::string header_name(std::string_view field) { return std::string(kOwn).append(field); }

// The fields by which people find it, and the names of their headers.
struct Field {
  std::string_view key;
  std::string_view header;
  std::string Envelope::*value;
  // Told to whoever handles it, beside being searched for.
  bool is_told = false;
};
constexpr std::array<Field, 5> kFields{
    {{.key = kMessageIdKey, .header = "id", .value = &Envelope::id, .is_told = true},
     {.key = kTopicKey, .header = "topic", .value = &Envelope::topic, .is_told = true},
     {.key = kSourceKey, .header = "source", .value = &Envelope::source},
     {.key = kGroupKey, .header = "group", .value = &Envelope::group},
     {.key = kBusinessIdKey, .header = "business-id", .value = &Envelope::business_id}}};

Result<> check(const Envelope& envelope, std::size_t body_bytes) {
  constexpr std::size_t kNone = 0;
  constexpr std::size_t kOne = 1;
  return FieldChecks("message")
      .between("id (bytes)", envelope.id.size(), kOne, task::kKeyBytesMax)
      .between("topic (bytes)", envelope.topic.size(), kOne, task::kKeyBytesMax)
      .between("source (bytes)", envelope.source.size(), kNone, task::kKeyBytesMax)
      .between("group (bytes)", envelope.group.size(), kNone, task::kKeyBytesMax)
      .between("business_id (bytes)", envelope.business_id.size(), kNone, task::kKeyBytesMax)
      .between("body (bytes)", body_bytes, kNone, task::kPayloadBytesMax)
      .result();
}

void put_fields(const Envelope& envelope, task::TaskSpec& spec, HeaderWriter& headers) {
  for (const Field& field : kFields) {
    const std::string& value = envelope.*field.value;
    if (value.empty()) continue;
    std::string text = search_text(value);
    if (field.is_told || text != value) (void)headers.put(header_name(field.header), value);
    spec.search_keys.emplace(field.key, std::move(text));
  }
}

void put_rest(const Envelope& envelope, HeaderWriter& headers) {
  if (!envelope.key.empty() && envelope.key.size() <= kKeyKeptMax) {
    (void)headers.put(header_name("key"), envelope.key);
  }
  if (!envelope.tags.empty() && envelope.tags.size() <= kTagsKeptMax) {
    (void)headers.put(header_name("tags"), envelope.tags);
  }
  if (envelope.id_origin != IdOrigin::kPublisher) {
    (void)headers.put(header_name("id-origin"), word_of(envelope.id_origin));
  }
  if (envelope.published_at) {
    (void)headers.put(header_name("published-at"), format_rfc3339(*envelope.published_at));
  }
}

void put_publishers(const std::vector<Header>& given, HeaderWriter& headers) {
  std::map<std::string_view, int> seen;
  for (const Header& header : given) {
    std::string name = std::string(kPublishers) + percent_encoded_name(header.name);
    // Brokers may have several under one name.
    const int number = ++seen[header.name];
    if (number > 1) name += fmt::format("#{}", number);
    (void)headers.put(std::move(name), header.value);
  }
}

struct NumberedHeader {
  Header header;
  int number = 1;
};

NumberedHeader publishers_header(std::string_view name, const std::string& text) {
  const bool is_coded = name.ends_with('*');
  if (is_coded) name.remove_suffix(1);
  NumberedHeader read;
  if (const std::size_t mark = name.rfind('#'); mark != std::string_view::npos) {
    (void)std::from_chars(name.data() + mark + 1, name.data() + name.size(), read.number);
    name = name.substr(0, mark);
  }
  read.header = {.name = percent_decoded(name), .value = is_coded ? percent_decoded(text) : text};
  return read;
}

std::vector<Header> publishers_headers(const std::map<std::string, std::string>& headers) {
  std::vector<NumberedHeader> read;
  for (const auto& [name, text] : headers) {
    if (!name.starts_with(kPublishers)) continue;
    read.push_back(publishers_header(std::string_view(name).substr(kPublishers.size()), text));
  }
  std::ranges::stable_sort(read, [](const NumberedHeader& one, const NumberedHeader& other) {
    return std::tie(one.header.name, one.number) < std::tie(other.header.name, other.number);
  });
  std::vector<Header> all;
  for (NumberedHeader& one : read) all.push_back(std::move(one.header));
  return all;
}

std::string trace_parent_of(const std::vector<Header>& headers) {
  for (const Header& header : headers) {
    if (header.name == "traceparent" && task::is_trace_parent(header.value)) return header.value;
  }
  return {};
}

}  // namespace

Result<> validate(const Handling& handling) {
  using namespace std::chrono_literals;
  return FieldChecks("handling")
      .between("kind (bytes)", handling.kind.value.size(), std::size_t{1}, task::kKindBytesMax)
      .require(is_plain_text(handling.kind.value), "kind",
               "must be valid UTF-8 without control characters")
      .between("max_retries", handling.max_retries, 0, task::kRetriesMax)
      .between<Duration>("timeout", handling.timeout, 1ms, 24h)
      .between<Duration>("keep_done_for", handling.keep_done_for, 1s, kLongestWait)
      .result();
}

Envelope envelope_of(const Message& message, std::string_view group) {
  return {.source = message.source,
          .group = std::string(group),
          .topic = message.topic,
          .tags = message.tags,
          .key = message.key,
          .id = message.id,
          .id_origin = message.id_origin,
          .business_id = {},
          .headers = message.headers,
          .published_at = message.published_at};
}

std::string search_text(std::string_view value) {
  if (value.size() <= task::kKeyBytesMax && is_plain_text(value)) return std::string(value);
  std::string text = percent_encoded(value);
  if (text.size() <= task::kKeyBytesMax) return text;
  const std::string hash = hash_text(value);
  text.resize(task::kKeyBytesMax - hash.size() - 1);
  return text + '~' + hash;
}

Result<task::TaskSpec> spec_of(const Envelope& envelope, std::string body,
                               const Handling& handling) {
  if (Result<> valid = check(envelope, body.size()); !valid) return fail(std::move(valid).error());
  task::TaskSpec spec;
  spec.kind = handling.kind;
  spec.tenant = handling.tenant;
  spec.max_retries = handling.max_retries;
  spec.timeout = handling.timeout;
  spec.payload = std::move(body);
  spec.trace_parent = trace_parent_of(envelope.headers);
  HeaderWriter headers(spec.headers);
  put_fields(envelope, spec, headers);
  put_rest(envelope, headers);
  put_publishers(envelope.headers, headers);
  if (std::string order = order_key_of(envelope); handling.ordered && !order.empty()) {
    spec.search_keys.emplace(kOrderKey, std::move(order));
  }
  if (Result<> valid = task::validate(spec); !valid) return fail(std::move(valid).error());
  return spec;
}

std::optional<Envelope> envelope_of(const task::TaskSpec& spec) {
  const auto has = [&](std::string_view key) {
    return spec.search_keys.contains(std::string(key));
  };
  if (!has(kMessageIdKey) || !has(kTopicKey)) return std::nullopt;
  Envelope envelope;
  for (const Field& field : kFields) {
    const auto search = spec.search_keys.find(std::string(field.key));
    auto header = read_header(spec.headers, header_name(field.header));
    if (header) {
      envelope.*field.value = *std::move(header);
    } else if (search != spec.search_keys.end()) {
      envelope.*field.value = search->second;
    }
  }
  envelope.key = read_header(spec.headers, header_name("key")).value_or("");
  envelope.tags = read_header(spec.headers, header_name("tags")).value_or("");
  const std::string origin = read_header(spec.headers, header_name("id-origin")).value_or("");
  for (const IdOrigin one : kAllOrigins) {
    if (word_of(one) == origin) envelope.id_origin = one;
  }
  if (const auto at = read_header(spec.headers, header_name("published-at"))) {
    if (const auto time = parse_rfc3339("published-at", *at)) envelope.published_at = *time;
  }
  envelope.headers = publishers_headers(spec.headers);
  return envelope;
}

std::string order_key_of(const Envelope& envelope) {
  if (envelope.key.empty()) return {};
  std::string all;
  for (const std::string* text :
       {&envelope.source, &envelope.group, &envelope.topic, &envelope.key}) {
    all += fmt::format("{}:{}", text->size(), *text);
  }
  return hash_text(all);
}

}  // namespace recourse::message
