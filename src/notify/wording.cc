#include "notify/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/rfc3339.h"
#include "base/text.h"

namespace recourse::notify {
namespace {

constexpr std::string_view kDots = "...";

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

}  // namespace

std::string_view title_of(Event event) {
  switch (event) {
    case Event::kDeadLetter: return "Dead letter";
    case Event::kMaxRetryReached: return "Retries used up";
    case Event::kNonRetryableFailed: return "Failed for good";
    case Event::kTakeover: return "Takeover from a dead node";
    case Event::kLeaseRenewFailed: return "Lease not renewed";
    case Event::kPersistFailed: return "Outcome not stored";
    case Event::kEngineError: return "Engine error";
    case Event::kBreakerOpened: return "Circuit breaker opened";
    case Event::kBreakerClosed: return "Circuit breaker closed";
    case Event::kAlertFired: return "Alert";
    case Event::kAlertCleared: return "Alert over";
    case Event::kTest: return "Test message";
  }
  std::abort();
}

std::string headline(const Notice& notice) {
  std::string line = fmt::format("Recourse [{}] ", to_string(severity_of(notice)));
  if (notice.reminder > 0) line += fmt::format("Reminder {}: ", notice.reminder);
  line += title_of(notice.event);
  if (!notice.kind.value.empty()) line += fmt::format(": {}", notice.kind.value);
  if (notice.more > 0) line += fmt::format(" (and {} more)", notice.more);
  return line;
}

std::vector<Fact> facts_of(const Notice& notice) {
  std::vector<Fact> facts;
  const auto add = [&facts](std::string label, std::string value) {
    if (!value.empty()) facts.push_back({std::move(label), std::move(value)});
  };
  add("Kind", notice.kind.value);
  if (notice.task) add("Task", task::to_string(*notice.task));
  add("Tenant", notice.tenant.value);
  if (notice.max_retries > 0) {
    add("Retries", fmt::format("{} of {}", notice.retries, notice.max_retries));
  }
  add("Reason", notice.reason);
  add("Node", notice.node);
  add("Time", format_rfc3339(notice.at));
  for (const auto& [name, value] : notice.attributes) add(name, value);
  return facts;
}

std::string more_line(const Notice& notice) {
  if (notice.more == 0) return {};
  return fmt::format("and {} more of this kind since the last message", notice.more);
}

std::string plain_text(const Notice& notice) {
  std::string text = headline(notice) + "\n\n";
  for (const Fact& fact : facts_of(notice)) text += fmt::format("{}: {}\n", fact.label, fact.value);
  if (!notice.last_error.empty()) text += fmt::format("\n{}\n", notice.last_error);
  if (notice.more > 0) text += fmt::format("\n{}\n", more_line(notice));
  if (!notice.link.empty()) text += fmt::format("\n{}\n", notice.link);
  return text;
}

std::string cut_to_bytes(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  std::size_t size = bytes_max - std::min(bytes_max, kDots.size());
  while (size > 0 && !begins_character(text[size])) --size;
  return std::string(text.substr(0, size)) + std::string(kDots.substr(0, bytes_max));
}

std::string cut_to_characters(std::string_view text, std::size_t characters_max) {
  std::string cut = clean_text(text, characters_max);
  if (cut.size() == text.size()) return cut;
  return clean_text(text, characters_max - std::min(characters_max, kDots.size())) +
         std::string(kDots.substr(0, characters_max));
}

}  // namespace recourse::notify
