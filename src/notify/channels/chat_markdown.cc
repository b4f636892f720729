#include "notify/channels/chat_markdown.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "notify/escape.h"
#include "notify/wording.h"

namespace recourse::notify {
namespace {

constexpr std::size_t kFactsMax = 12;
constexpr std::size_t kFactBytes = 120;
constexpr std::size_t kHeadlineBytes = 300;
// Below this a quotation of the error says nothing.
constexpr std::size_t kErrorBytesMin = 40;
// Longer links are left out: half of one leads nowhere.
constexpr std::size_t kLinkBytes = 1'000;

// Round brackets end a link's address.
std::string link_of(const Notice& notice) {
  if (notice.link.empty() || notice.link.size() > kLinkBytes ||
      notice.link.find_first_of("()") != std::string::npos) {
    return {};
  }
  return fmt::format("[Open the task]({})", notice.link);
}

}  // namespace

std::string chat_markdown(const Notice& notice, const ChatMarkdown& format) {
  const std::string_view end = format.line_end;
  std::string text = fmt::format(
      "### {}{}", escape_chat_markdown(cut_to_bytes(headline(notice), kHeadlineBytes)), end);
  std::string tail;
  if (notice.more > 0) tail += fmt::format("{}{}", more_line(notice), end);
  tail += link_of(notice);
  std::size_t facts = 0;
  for (const Fact& fact : facts_of(notice)) {
    const std::string line =
        fmt::format("**{}**: {}{}", escape_chat_markdown(cut_to_bytes(fact.label, kFactBytes)),
                    escape_chat_markdown(cut_to_bytes(fact.value, kFactBytes)), end);
    if (++facts > kFactsMax || text.size() + line.size() + tail.size() > format.bytes_max / 2)
      break;
    text += line;
  }
  const std::size_t used = text.size() + tail.size() + end.size() + std::string_view("> ").size();
  if (!notice.last_error.empty() && used + kErrorBytesMin < format.bytes_max) {
    // One line: a quotation ends with its line, and what follows would be markup again.
    const std::string error =
        escape_chat_markdown(one_line(notice.last_error, kErrorCharactersMax));
    text += fmt::format("> {}{}", cut_to_bytes(error, format.bytes_max - used), end);
  }
  return text + tail;
}

}  // namespace recourse::notify
