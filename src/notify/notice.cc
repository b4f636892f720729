#include "notify/notice.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/text.h"
#include "notify/masking.h"

namespace recourse::notify {
namespace {

bool is_web_link(const std::string& link) {
  return (link.starts_with("https://") || link.starts_with("http://")) && is_plain_text(link) &&
         link.find_first_of(" \"<>\\^`{|}") == std::string::npos;
}

// Lines and tabs stay; what would move a terminal's cursor does not.
std::string shown_lines(std::string_view text) {
  std::string lines = clean_text(text, kErrorCharactersMax);
  std::erase(lines, '\r');
  const auto is_control = [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
  };
  std::ranges::replace_if(lines, is_control, ' ');
  return lines;
}

}  // namespace

void bound(Notice& notice) {
  // A character has four bytes at the most; one that is cut in the middle is mended when it is
  // sent.
  const auto cut = [](std::string& text, std::size_t bytes) {
    if (text.size() <= bytes) return;
    text.resize(bytes);
    text.shrink_to_fit();
  };
  for (std::string* name : {&notice.id, &notice.node, &notice.kind.value, &notice.tenant.value,
                            &notice.reason, &notice.link}) {
    cut(*name, kMaskedBytesMax / 4);
  }
  cut(notice.last_error, kMaskedBytesMax);
  while (notice.attributes.size() > kAttributesMax) {
    notice.attributes.erase(std::prev(notice.attributes.end()));
  }
  for (auto& [name, value] : notice.attributes) cut(value, 4 * kAttributeCharactersMax);
  std::erase_if(notice.ids,
                [&](const std::string& name) { return !notice.attributes.contains(name); });
}

Notice fit_to_send(const Notice& notice, const Masker& masker) {
  Notice fit = notice;
  fit.id = one_line(notice.id, kNameCharactersMax);
  fit.node = one_line(notice.node, kNameCharactersMax);
  fit.kind = task::Kind(one_line(notice.kind.value, kNameCharactersMax));
  fit.tenant = task::Tenant(one_line(notice.tenant.value, kNameCharactersMax));
  fit.reason = one_line(masker.masked(notice.reason), kNameCharactersMax);
  fit.last_error = shown_lines(masker.masked(notice.last_error));
  fit.attributes.clear();
  for (const auto& [name, value] : notice.attributes) {
    if (fit.attributes.size() == kAttributesMax) break;
    const std::string told = notice.ids.contains(name) ? masker.masked_id(name, value)
                                                       : masker.masked_value(name, value);
    fit.attributes.emplace(one_line(name, kNameCharactersMax),
                           one_line(told, kAttributeCharactersMax));
  }
  if (!is_web_link(notice.link) || notice.link.size() > 2'000) fit.link.clear();
  return fit;
}

}  // namespace recourse::notify
