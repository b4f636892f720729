// Attempts as consumers know them: the rows of the attempts, with what notes say beside them.
#include <boost/json.hpp>
#include <map>
#include <utility>

#include "base/text.h"
#include "message/order_wait.h"
#include "message/records.h"
#include "message/replay.h"
#include "store/limits.h"

namespace recourse::message {
namespace {

using boost::json::object;

constexpr std::size_t kTypeCharactersMax = 200;
constexpr std::size_t kIpCharactersMax = 64;

std::size_t characters_in(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) ++count;
  }
  return count;
}

// Custom data is kept as a text: numbers stay as they were written.
std::string written(const AttemptDetail& detail) {
  object shape;
  const auto put = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) shape[name] = value;
  };
  put("type", detail.exception_type);
  put("ip", detail.consumer_ip);
  put("data", detail.custom_data);
  put("trace", detail.stack_trace);
  return std::string(kDetailMark) + boost::json::serialize(shape);
}

bool fits(const AttemptDetail& detail) {
  return characters_in(written(detail)) <= store::kNoteCharactersMax;
}

// As much of it as there is room for: escapes make a character longer than one, so it is tried.
void cut_trace(AttemptDetail& detail) {
  const std::string whole = std::exchange(detail.stack_trace, {});
  std::size_t low = 0;
  std::size_t high = store::kNoteCharactersMax;
  while (low < high) {
    const std::size_t middle = (low + high + 1) / 2;
    detail.stack_trace = clean_text(whole, middle);
    (fits(detail) ? low : high) = fits(detail) ? middle : middle - 1;
  }
  detail.stack_trace = clean_text(whole, low);
}

std::string text_of(const object& shape, std::string_view name) {
  const auto* value = shape.if_contains(name);
  const auto* text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string() : std::string(*text);
}

using Details = std::map<int, AttemptDetail>;

Details details_of(const std::vector<store::Note>& notes) {
  Details details;
  for (const store::Note& note : notes) {
    if (auto detail = detail_of(note.text)) {
      details.insert_or_assign(note.attempt, *std::move(detail));
    }
  }
  return details;
}

void add_detail(HistoryEntry& entry, const Details& details) {
  const auto found = details.find(entry.attempt);
  if (found == details.end()) return;
  entry.exception_type = found->second.exception_type;
  entry.consumer_ip = found->second.consumer_ip;
  entry.stack_trace = found->second.stack_trace;
  entry.custom_data = found->second.custom_data;
}

HistoryEntry failure_of(const store::Attempt& attempt) {
  HistoryEntry entry;
  entry.attempt = attempt.number;
  entry.operation_time = attempt.started_at;
  entry.error_code = attempt.error->code;
  entry.error_message = attempt.error->message;
  if (attempt.next_due) entry.retry_delay = *attempt.next_due - attempt.ended_at;
  entry.result = "FAILED";
  return entry;
}

}  // namespace

std::string to_note(const AttemptDetail& detail) {
  AttemptDetail kept = detail;
  kept.exception_type = clean_text(detail.exception_type, kTypeCharactersMax);
  kept.consumer_ip = clean_text(detail.consumer_ip, kIpCharactersMax);
  kept.custom_data = clean_text(detail.custom_data, store::kNoteCharactersMax);
  if (kept.custom_data != detail.custom_data) kept.custom_data.clear();
  if (fits(kept)) return written(kept);
  cut_trace(kept);
  // Half an object is none.
  if (!fits(kept)) {
    kept.custom_data.clear();
    kept.stack_trace = detail.stack_trace;
    cut_trace(kept);
  }
  return written(kept);
}

std::optional<AttemptDetail> detail_of(std::string_view note) {
  if (!note.starts_with(kDetailMark)) return std::nullopt;
  boost::system::error_code wrong;
  const boost::json::value parsed = boost::json::parse(note.substr(kDetailMark.size()), wrong);
  if (wrong || !parsed.is_object()) return std::nullopt;
  const object& shape = parsed.get_object();
  return AttemptDetail{.exception_type = text_of(shape, "type"),
                       .consumer_ip = text_of(shape, "ip"),
                       .stack_trace = text_of(shape, "trace"),
                       .custom_data = text_of(shape, "data")};
}

std::vector<HistoryEntry> history_of(const task::Task& task,
                                     const std::vector<store::Attempt>& attempts,
                                     const std::vector<store::Note>& notes) {
  const Details details = details_of(notes);
  std::vector<HistoryEntry> history;
  for (const store::Attempt& attempt : attempts) {
    // It waited for its turn, or was published again: nothing failed.
    if (!attempt.error || attempt.error->code == kWaitsForOrder) continue;
    if (attempt.error->code == kReplayed) continue;
    history.push_back(failure_of(attempt));
  }
  // One that succeeds leaves no row; the message's own tells of it.
  if (task.state == task::State::kSucceeded) {
    HistoryEntry last;
    last.attempt = task.attempts;
    last.operation_time = task.ended_at.value_or(task.created_at);
    last.result = "SUCCESS";
    history.push_back(std::move(last));
  }
  for (HistoryEntry& entry : history) add_detail(entry, details);
  return history;
}

}  // namespace recourse::message
