// Rows of free text: single, in a list, by name.
#include <fmt/format.h>

#include <algorithm>

#include "app/config/rows.h"
#include "base/text.h"

namespace recourse::app {
namespace {

// Empty, or what is wrong with one text of a row.
std::string check_text(const Given& value, const TextCheck& check) {
  if (value.shape != Shape::kText) {
    return fmt::format("must be a text, not {}", describe(value.shape));
  }
  return check ? check(value.text) : std::string();
}

// The environment and flags have no lists: `a, b` it is there.
std::vector<Given> items_of(const Given& value) {
  if (value.shape != Shape::kText || value.where.origin == Origin::kFile) return value.items;
  std::vector<Given> items;
  for (std::string_view rest = value.text; !rest.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    std::string_view item = rest.substr(0, end);
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    if (!item.empty()) items.push_back(given_text(std::string(item), value.where));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return items;
}

bool may_be_list(const Given& value) {
  const bool from_file = value.where.origin == Origin::kFile;
  return value.shape == Shape::kList || (value.shape == Shape::kText && !from_file);
}

}  // namespace

Key text(std::string path, const Place<std::string>& place, About about, TextCheck check) {
  Key key{.path = std::move(path), .type = "a text", .about = about};
  key.put = [check = std::move(check), set = place.set](const Given& value, const Outside&) {
    std::string complaint = check_text(value, check);
    if (complaint.empty()) set(value.text);
    return complaint;
  };
  key.show = [get = place.get] {
    const std::string value = get().value_or("");
    return value.empty() ? std::string() : quoted_if_needed(value);
  };
  key.compared = key.show;
  return key;
}

Key list(std::string path, const Place<std::vector<std::string>>& place, About about,
         TextCheck check_each) {
  Key key{.path = std::move(path), .type = "a list of texts", .about = about};
  key.put = [check = std::move(check_each), set = place.set](const Given& value,
                                                             const Outside&) -> std::string {
    if (!may_be_list(value)) {
      return fmt::format("must be a list such as [a, b], not {}", describe(value.shape));
    }
    std::vector<std::string> texts;
    for (const Given& item : items_of(value)) {
      if (std::string complaint = check_text(item, check); !complaint.empty()) return complaint;
      texts.push_back(item.text);
    }
    set(std::move(texts));
    return {};
  };
  key.show = [get = place.get]() -> std::string {
    std::vector<std::string> texts = get().value_or(std::vector<std::string>());
    std::ranges::transform(texts, texts.begin(),
                           [](const std::string& item) { return quoted_if_needed(item); });
    return texts.empty() ? "" : fmt::format("[{}]", fmt::join(texts, ", "));
  };
  key.compared = key.show;
  return key;
}

Key text_map(std::string path, const Place<TextMap>& place, About about, TextCheck check_name) {
  Key key{.path = std::move(path), .type = "a map of texts", .about = about};
  key.put = [check_name = std::move(check_name), set = place.set](const Given& value,
                                                                  const Outside&) -> std::string {
    if (value.shape != Shape::kMap) {
      return fmt::format("must be a map such as {{name: value}}, not {}", describe(value.shape));
    }
    TextMap texts;
    for (const Entry& entry : value.entries) {
      std::string complaint = check_name ? check_name(entry.key) : std::string();
      if (complaint.empty()) complaint = check_text(entry.value, nullptr);
      if (!complaint.empty()) return fmt::format("{} {}", shown(entry.key), complaint);
      texts[entry.key] = entry.value.text;
    }
    set(std::move(texts));
    return {};
  };
  key.show = [get = place.get]() -> std::string {
    std::vector<std::string> pairs;
    for (const auto& [name, value] : get().value_or(TextMap())) {
      pairs.push_back(quoted_if_needed(name) + ": " + quoted_if_needed(value));
    }
    return pairs.empty() ? "" : fmt::format("{{{}}}", fmt::join(pairs, ", "));
  };
  key.compared = key.show;
  return key;
}

}  // namespace recourse::app
