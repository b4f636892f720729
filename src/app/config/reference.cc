#include "app/config/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "app/config/keys.h"

namespace recourse::app {
namespace {

constexpr std::size_t kLineMax = 98;

using Lines = std::vector<std::string>;

std::vector<std::string> levels_of(std::string_view path) {
  std::vector<std::string> levels;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('.'), path.size());
    levels.emplace_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return levels;
}

std::string_view say(Reload reload) {
  return reload == Reload::kNow ? "taken over by SIGHUP" : "needs a restart";
}

std::string type_of(const Key& key) {
  std::string words = key.type;
  for (const std::string_view article : {"a ", "an "}) {
    if (words.starts_with(article)) words.erase(0, article.size());
  }
  // The examples of a type are for error messages; here the introduction has them.
  words = words.substr(0, words.find(" such as "));
  return key.allowed.empty() ? words : words + ", " + key.allowed;
}

void comment(std::string_view text, std::size_t indent, Lines& lines) {
  const std::string begin = std::string(indent, ' ') + "#";
  std::string line = begin;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (line != begin && line.size() + 1 + word.size() > kLineMax) {
      lines.push_back(std::exchange(line, begin));
    }
    line += fmt::format(" {}", word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  lines.push_back(std::move(line));
}

class YamlWriter {
 public:
  explicit YamlWriter(Lines& lines) : lines_(lines) {}

  void write(const Keys& keys) {
    for (const Key& key : keys) {
      std::vector<std::string> levels = levels_of(key.path);
      const bool heads_section = std::ranges::any_of(
          keys, [&key](const Key& other) { return other.path.starts_with(key.path + "."); });
      const std::string leaf = levels.back();
      if (!heads_section) levels.pop_back();
      if (heads_section) comment(key.about.text, 2 * (levels.size() - 1), lines_);
      enter(levels);
      if (heads_section) continue;
      if (key.items != nullptr) {
        write_items(key, leaf, 2 * levels.size());
      } else {
        write_leaf(key, leaf, 2 * levels.size());
      }
    }
  }

 private:
  void enter(const std::vector<std::string>& sections) {
    std::size_t common = 0;
    while (common < sections.size() && common < open_.size() && sections[common] == open_[common]) {
      ++common;
    }
    for (std::size_t i = common; i < sections.size(); ++i) {
      if (i == 0 && !lines_.empty()) lines_.emplace_back();
      lines_.push_back(std::string(2 * i, ' ') + sections[i] + ":");
    }
    open_ = sections;
  }

  void write_leaf(const Key& key, const std::string& leaf, std::size_t indent) {
    const std::string unused = key.unused.empty() ? "" : fmt::format(" Not used: {}.", key.unused);
    comment(
        fmt::format("{} ({}; {}){}", key.about.text, type_of(key), say(key.about.reload), unused),
        indent, lines_);
    const std::string value = key.show();
    const std::string space(indent, ' ');
    lines_.push_back(value.empty() ? fmt::format("{}# {}: {}", space, leaf, key.about.example)
                                   : fmt::format("{}{}: {}", space, leaf, value));
  }

  // One item with all its keys, as a comment.
  void write_items(const Key& key, const std::string& leaf, std::size_t indent) {
    if (indent == 0) lines_.emplace_back();
    comment(key.about.text, indent, lines_);
    const std::string space(indent, ' ');
    lines_.push_back(fmt::format("{}{}:", space, leaf));
    Lines item;
    YamlWriter(item).write(key.items->add("NAME"));
    lines_.push_back(fmt::format("{}  # {}", space, key.items->listed ? "- name: NAME" : "NAME:"));
    for (const std::string& line : item) {
      if (!line.empty()) lines_.push_back(fmt::format("{}  #   {}", space, line));
    }
  }

  Lines& lines_;
  std::vector<std::string> open_;
};

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|') result += '\\';
    result += c;
  }
  return result;
}

void write_rows(const Keys& keys, const std::string& prefix, Lines& lines) {
  for (const Key& key : keys) {
    std::string value = key.items == nullptr ? key.show() : "";
    if (!value.empty()) value = fmt::format("`{}`", value);
    const std::string unused =
        key.unused.empty() ? "" : fmt::format(" *Not used: {}.*", key.unused);
    const std::string only =
        key.only.empty() ? "" : fmt::format(" Only for the type {}.", key.only);
    lines.push_back(fmt::format("| `{}{}` | {} | {} | {}{}{} | {} |", prefix, key.path,
                                escaped(type_of(key)), escaped(value), escaped(key.about.text),
                                only, unused,
                                key.about.reload == Reload::kNow ? "SIGHUP" : "restart"));
    if (key.items != nullptr) {
      write_rows(key.items->add("NAME"), prefix + key.path + ".NAME.", lines);
    }
  }
}

std::string joined(const Lines& lines) { return fmt::format("{}\n", fmt::join(lines, "\n")); }

}  // namespace

std::string reference_yaml() {
  Config config = default_config();
  Lines lines;
  YamlWriter(lines).write(keys_of(config));
  return joined(lines);
}

std::string reference_markdown() {
  Config config = default_config();
  const Keys keys = keys_of(config);
  Lines lines;
  for (auto begin = keys.begin(); begin != keys.end();) {
    const std::string section = levels_of(begin->path).front();
    const auto end = std::find_if(begin, keys.end(), [&section](const Key& key) {
      return levels_of(key.path).front() != section;
    });
    if (!lines.empty()) lines.emplace_back();
    lines.push_back(fmt::format("### {}", section));
    lines.emplace_back();
    lines.emplace_back("| key | type | default | meaning | change takes |");
    lines.emplace_back("| --- | --- | --- | --- | --- |");
    write_rows(Keys(begin, end), "", lines);
    begin = end;
  }
  return joined(lines);
}

}  // namespace recourse::app
