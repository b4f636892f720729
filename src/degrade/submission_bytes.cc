#include "degrade/submission_bytes.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace recourse::degrade {
namespace {

// The first byte. Another layout gets another number; what is spooled outlives an upgrade.
constexpr char kVersion = 1;

using Texts = std::map<std::string, std::string>;

class Writer {
 public:
  Writer& number(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    for (int i = 0; i < 8; ++i) bytes_.push_back(static_cast<char>(bits >> (8 * i) & 0xFF));
    return *this;
  }
  Writer& text(std::string_view value) {
    number(static_cast<std::int64_t>(value.size()));
    bytes_.append(value);
    return *this;
  }
  Writer& texts(const Texts& values) {
    number(static_cast<std::int64_t>(values.size()));
    for (const auto& [name, value] : values) text(name).text(value);
    return *this;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_{kVersion};
};

// Once something is missing, everything that follows is empty, and the whole is no good.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  std::int64_t number() {
    const std::string_view bytes = take(8);
    std::uint64_t bits = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) {
      bits = bits << 8 | static_cast<std::uint8_t>(bytes[i]);
    }
    return static_cast<std::int64_t>(bits);
  }
  std::string text() { return std::string(take(static_cast<std::uint64_t>(number()))); }
  Texts texts() {
    Texts values;
    const auto count = static_cast<std::uint64_t>(number());
    for (std::uint64_t i = 0; i < count && good_; ++i) {
      std::string name = text();
      values[std::move(name)] = text();
    }
    return values;
  }
  // All of it was there, and nothing besides.
  [[nodiscard]] bool is_whole() const { return good_ && rest_.empty(); }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) good_ = false;
    if (!good_) return {};
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
  bool good_ = true;
};

std::string_view id_bytes(const Ulid& id) {
  return {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()};
}

}  // namespace

std::string to_bytes(const store::Submission& submission) {
  const task::TaskSpec& spec = submission.spec;
  return Writer()
      .text(id_bytes(submission.id.value))
      .number(submission.delay.count())
      .text(spec.tenant.value)
      .text(spec.kind.value)
      .text(spec.shard_key.value)
      .text(spec.unique_key.value)
      .number(spec.priority)
      .text(spec.payload)
      .texts(spec.headers)
      .text(spec.trace_parent)
      .texts(spec.search_keys)
      .number(spec.max_retries)
      .number(spec.timeout.count())
      .number(spec.deadline ? spec.deadline->time_since_epoch().count()
                            : kNever.time_since_epoch().count())
      .text(spec.backoff)
      .take();
}

Result<store::Submission> submission_from(std::string_view bytes) {
  const auto corrupt = [] {
    return fail(ErrorCode::kCorrupt, "these bytes are no submission of this version");
  };
  if (bytes.empty() || bytes.front() != kVersion) return corrupt();
  Reader reader(bytes.substr(1));
  store::Submission submission;
  task::TaskSpec& spec = submission.spec;
  const std::string id = reader.text();
  if (id.size() != submission.id.value.bytes.size()) return corrupt();
  std::ranges::transform(id, submission.id.value.bytes.begin(),
                         [](char byte) { return static_cast<std::uint8_t>(byte); });
  submission.delay = Duration(reader.number());
  spec.tenant = task::Tenant(reader.text());
  spec.kind = task::Kind(reader.text());
  spec.shard_key = task::ShardKey(reader.text());
  spec.unique_key = task::UniqueKey(reader.text());
  spec.priority = static_cast<int>(reader.number());
  spec.payload = reader.text();
  spec.headers = reader.texts();
  spec.trace_parent = reader.text();
  spec.search_keys = reader.texts();
  spec.max_retries = static_cast<int>(reader.number());
  spec.timeout = Duration(reader.number());
  const TimePoint deadline{Duration(reader.number())};
  if (deadline != kNever) spec.deadline = deadline;
  spec.backoff = reader.text();
  if (!reader.is_whole()) return corrupt();
  return submission;
}

}  // namespace recourse::degrade
