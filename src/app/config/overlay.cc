#include "app/config/overlay.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace recourse::app {
namespace {

constexpr std::string_view kPrefix = "RECOURSE__";
constexpr std::string_view kBetween = "__";

// What is left of a name in a variable: no capitals, no telling of one mark from another.
std::string folded(std::string_view name) {
  std::string result;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    result += std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : '-';
  }
  return result;
}

std::vector<std::string> levels_of_variable(std::string_view name) {
  std::vector<std::string> levels;
  for (;;) {
    const std::size_t end = name.find(kBetween);
    levels.push_back(folded(name.substr(0, end)));
    if (end == std::string_view::npos) return levels;
    name.remove_prefix(end + kBetween.size());
  }
}

// Empty where a quote does not end or a level is empty.
std::vector<std::string> levels_of_flag(std::string_view path) {
  std::vector<std::string> levels(1);
  bool quoted = false;
  for (const char c : path) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == '.' && !quoted) {
      levels.emplace_back();
    } else {
      levels.back() += c;
    }
  }
  const bool has_gap = std::ranges::any_of(levels, &std::string::empty);
  return quoted || has_gap ? std::vector<std::string>() : levels;
}

Given& descend(Given& root, const std::vector<std::string>& levels, const Where& where) {
  Given* place = &root;
  for (const std::string& level : levels) place = &place->get_or_add(level, where).value;
  return *place;
}

// Names as the file has them, where it has them.
std::vector<std::string> as_in_file(std::vector<std::string> levels, const Given& root) {
  const Given* place = &root;
  for (std::string& level : levels) {
    if (place == nullptr) break;
    const auto found = std::ranges::find(place->entries, level,
                                         [](const Entry& entry) { return folded(entry.key); });
    if (found == place->entries.end()) break;
    level = found->key;
    place = &found->value;
  }
  return levels;
}

// RECOURSE_SERVER_LISTEN, however many underscores it has where.
std::string squeezed(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (c != '_' || !result.ends_with('_')) result += c;
  }
  return result;
}

bool is_named_in(const Given& given, std::string_view reference) {
  return given.text == reference ||
         std::ranges::any_of(given.items,
                             [&](const Given& item) { return is_named_in(item, reference); }) ||
         std::ranges::any_of(given.entries, [&](const Entry& entry) {
           return is_named_in(entry.value, reference);
         });
}

// The equals sign that ends the path: not one within quotes.
std::size_t end_of_path(std::string_view flag) {
  bool quoted = false;
  for (std::size_t i = 0; i < flag.size(); ++i) {
    if (flag[i] == '"') quoted = !quoted;
    if (flag[i] == '=' && !quoted) return i;
  }
  return std::string_view::npos;
}

}  // namespace

void lay_environment(const Environment& environment, Given& root) {
  for (const auto& [name, value] : environment) {
    if (!name.starts_with(kPrefix)) continue;
    const Where where{.origin = Origin::kEnvironment, .name = name};
    const std::vector<std::string> levels =
        as_in_file(levels_of_variable(std::string_view(name).substr(kPrefix.size())), root);
    descend(root, levels, where) = given_text(value, where);
  }
}

void warn_of_unread(const Environment& environment, const Keys& keys, const Given& root,
                    Problems& problems) {
  for (const auto& [name, value] : environment) {
    if (!name.starts_with("RECOURSE_") || name.starts_with(kPrefix)) continue;
    const auto meant =
        std::ranges::find_if(keys, [&, squeezed_name = squeezed(name)](const Key& key) {
          return squeezed(variable_of(key.path)) == squeezed_name;
        });
    if (meant == keys.end() || is_named_in(root, "env:" + name)) continue;
    problems.warning({.origin = Origin::kEnvironment, .name = name},
                     "is not read; did you mean " + variable_of(meant->path) + "?");
  }
}

void lay_flags(const std::vector<std::string>& flags, Given& root, Problems& problems) {
  for (const std::string& flag : flags) {
    const std::size_t equals = end_of_path(flag);
    const std::string path = flag.substr(0, equals);
    const Where where{.origin = Origin::kFlag, .name = path};
    const std::vector<std::string> levels = levels_of_flag(path);
    if (equals == std::string::npos || levels.empty()) {
      problems.error({.origin = Origin::kFlag, .name = shown(path)},
                     "must be section.key=value, such as server.listen=127.0.0.1:7070");
      continue;
    }
    descend(root, levels, where) = given_text(flag.substr(equals + 1), where);
  }
}

std::string variable_of(std::string_view path) {
  std::string name(kPrefix);
  for (const char c : path) {
    if (c == '.') {
      name += kBetween;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      name += std::isalnum(byte) != 0 ? static_cast<char>(std::toupper(byte)) : '_';
    }
  }
  return name;
}

}  // namespace recourse::app
