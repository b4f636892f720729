#include "app/config/fill.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "app/config/suggest.h"
#include "base/text.h"

namespace recourse::app {
namespace {

std::string_view last_level(std::string_view path) { return path.substr(path.rfind('.') + 1); }

// Fit for a message, whatever it was.
std::string plain_name(std::string_view name) {
  const std::string quoted = shown(name);
  return quoted.substr(1, quoted.size() - 2);
}

std::string below(std::string_view section, std::string_view key) {
  return section.empty() ? std::string(key) : fmt::format("{}.{}", section, key);
}

// One set of rows: the whole table, or those of one item.
class Filler {
 public:
  // `prefix` stands before the rows' paths in messages.
  Filler(const Keys& keys, std::string prefix, const Outside& outside, Problems& problems,
         std::map<std::string, Where>& origins)
      : keys_(keys),
        prefix_(std::move(prefix)),
        outside_(outside),
        problems_(problems),
        origins_(origins) {}

  void fill_section(const Given& map, const std::string& section) {
    for (const Entry& entry : map.entries) fill_entry(entry, below(section, entry.key), section);
  }

  // In the order of the table, whatever the file's is.
  void fill_items() {
    for (const Key& key : keys_) {
      for (const auto& [items_key, value] : items_) {
        if (items_key == &key) fill_all_items(key, *value);
      }
    }
  }

  // What an item must have, and what is not for its type.
  void check_item(const Where& where) {
    const Key* type = find("type");
    for (const Key& key : keys_) {
      const bool given = given_.contains(&key);
      if (key.required && !given) {
        problems_.error(where, fmt::format("{} is missing; for example {}: {}", whole(key.path),
                                           key.path, key.about.example));
      }
      if (given && type != nullptr && !key.only.empty() &&
          key.only.find(type->show()) == std::string_view::npos) {
        problems_.error(origins_[whole(key.path)],
                        fmt::format("{} is for the type {}, and this one's is {}: leave it out",
                                    whole(key.path), key.only, type->show()));
      }
    }
  }

 private:
  [[nodiscard]] std::string whole(std::string_view path) const { return below(prefix_, path); }

  [[nodiscard]] const Key* find(std::string_view path) const {
    const auto found = std::ranges::find(keys_, path, &Key::path);
    return found == keys_.end() ? nullptr : &*found;
  }

  [[nodiscard]] bool is_section(std::string_view path) const {
    return std::ranges::any_of(keys_, [path](const Key& key) {
      return key.path.size() > path.size() && key.path.starts_with(path) &&
             key.path[path.size()] == '.';
    });
  }

  void fill_entry(const Entry& entry, const std::string& path, const std::string& section) {
    if (entry.key.find('.') != std::string::npos) return dotted(entry, section);
    const Key* key = find(path);
    const bool has_keys_below = is_section(path);
    if (key == nullptr && !has_keys_below) return unknown(entry, section);
    const Given& value = entry.value;
    const bool goes_down =
        has_keys_below && (value.shape == Shape::kMap || value.shape == Shape::kNothing);
    if (goes_down) {
      if (key != nullptr && value.shape == Shape::kMap && !key->implied.empty()) {
        (void)key->put(given_text(key->implied, value.where), outside_);
      }
      fill_section(value, path);
    } else if (key == nullptr) {
      problems_.error(value.where,
                      fmt::format("{} is a section: write its keys below it, such as {}",
                                  whole(path), suggestion_within(path)));
    } else if (key->items != nullptr) {
      items_.emplace_back(key, &value);
    } else {
      put(*key, value, entry.where);
    }
  }

  void put(const Key& key, const Given& value, const Where& where) {
    const std::string path = whole(key.path);
    // Right or wrong: what was given wrongly is not missing as well.
    given_.insert(&key);
    origins_[path] = value.where;
    if (value.shape == Shape::kNothing) {
      problems_.error(where, fmt::format("{} has no value; write one or remove the line", path));
      return;
    }
    const std::string before = key.show();
    const std::string complaint = key.put(value, outside_);
    if (!complaint.empty()) {
      problems_.error(value.where, fmt::format("{} {}{}", path, complaint, example_of(key)));
      return;
    }
    const bool changes_nothing = key.default_is_met && key.show() == before;
    if (!key.unused.empty() && !changes_nothing) warn_unused(key, where);
  }

  static std::string example_of(const Key& key) {
    const std::string example(key.about.example.empty() ? key.show() : key.about.example);
    if (example.empty()) return {};
    return fmt::format("; for example {}: {}", last_level(key.path), example);
  }

  // Once for a section: what is not used there is mostly all of it.
  void warn_unused(const Key& key, const Where& where) {
    const std::string section = key.path.substr(0, key.path.find('.', key.path.find('.') + 1));
    if (!warned_.insert(section).second) return;
    const std::string& what = key.default_is_met ? key.path : section;
    problems_.warning(where,
                      fmt::format("{} is accepted and not used: {}", whole(what), key.unused));
  }

  void fill_all_items(const Key& key, const Given& value) {
    const std::string path = whole(key.path);
    if (value.shape == Shape::kNothing) return;
    if (value.shape != Shape::kMap) {
      problems_.error(value.where,
                      fmt::format("{} must be {}, not {}", path, key.type, describe(value.shape)));
      return;
    }
    if (value.entries.size() > key.items->max) {
      problems_.error(value.where, fmt::format("{} has {} entries; at most {} are allowed", path,
                                               value.entries.size(), key.items->max));
      return;
    }
    for (const Entry& entry : value.entries) fill_item(key, entry);
  }

  void fill_item(const Key& key, const Entry& entry) {
    if (const std::string wrong = key.items->refuse_name(entry.key); !wrong.empty()) {
      const std::string name = path_of_item(whole(key.path), plain_name(entry.key));
      problems_.error(entry.where, fmt::format("{} {}", name, wrong));
      return;
    }
    const std::string path = path_of_item(whole(key.path), entry.key);
    const bool is_map = entry.value.shape == Shape::kMap || entry.value.shape == Shape::kNothing;
    if (!is_map) {
      problems_.error(entry.value.where, fmt::format("{} must be a map of keys, not {}", path,
                                                     describe(entry.value.shape)));
      return;
    }
    const Keys keys = key.items->add(entry.key);
    Filler item(keys, path, outside_, problems_, origins_);
    item.fill_section(entry.value, "");
    item.check_item(entry.where);
    origins_[path] = entry.where;
  }

  // One way to write a key, so that nobody can write it twice.
  void dotted(const Entry& entry, const std::string& section) {
    problems_.error(
        entry.where,
        fmt::format("there is no key \"{}\" here: write each level on a line of its own, "
                    "as in server: and listen: below it",
                    whole(below(section, plain_name(entry.key)))));
  }

  void unknown(const Entry& entry, const std::string& section) {
    // Looking for what was meant takes time, which a file of nonsense does not get.
    const std::optional<std::string> meant =
        problems_.is_full() ? std::nullopt : suggestion(entry.key, section);
    problems_.error(
        entry.where,
        fmt::format("there is no key \"{}\"{}", whole(below(section, plain_name(entry.key))),
                    meant ? fmt::format("; did you mean `{}`?", *meant) : ""));
  }

  // Among the neighbours first; then anywhere, for what only stands in the wrong place.
  [[nodiscard]] std::optional<std::string> suggestion(const std::string& word,
                                                      const std::string& section) const {
    std::vector<std::string> neighbours;
    for (const Key& key : keys_) {
      const bool is_below = section.empty() || key.path.starts_with(section + ".");
      if (!is_below) continue;
      const std::string_view rest =
          std::string_view(key.path).substr(section.empty() ? 0 : section.size() + 1);
      neighbours.emplace_back(rest.substr(0, rest.find('.')));
    }
    if (auto close = nearest(word, neighbours)) return whole(below(section, *close));
    for (const Key& key : keys_) {
      if (last_level(key.path) == word) return whole(key.path);
    }
    return std::nullopt;
  }

  [[nodiscard]] std::string suggestion_within(const std::string& section) const {
    for (const Key& key : keys_) {
      if (key.path.starts_with(section + ".")) return whole(key.path);
    }
    return section;
  }

  const Keys& keys_;
  const std::string prefix_;
  const Outside& outside_;
  Problems& problems_;
  std::map<std::string, Where>& origins_;
  std::set<const Key*> given_;
  std::set<std::string> warned_;
  std::vector<std::pair<const Key*, const Given*>> items_;
};

Given* find_path(Given& root, std::string_view path) {
  Given* place = &root;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('.'), path.size());
    Entry* entry = place->find(path.substr(0, end));
    if (entry == nullptr) return nullptr;
    place = &entry->value;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return place;
}

void name_list(const Key& key, Given& list, Problems& problems) {
  Given named{.shape = Shape::kMap, .where = list.where};
  for (Given& item : list.items) {
    const auto name = std::ranges::find(item.entries, "name", &Entry::key);
    if (name == item.entries.end() || name->value.shape != Shape::kText) {
      problems.error(item.where,
                     fmt::format("every entry of {} needs a name, such as name: ops", key.path));
      continue;
    }
    Entry entry{.key = name->value.text, .where = item.where};
    if (named.find(entry.key) != nullptr) {
      problems.error(item.where,
                     fmt::format("{} has the name {} twice", key.path, shown(entry.key)));
      continue;
    }
    item.entries.erase(name);
    entry.value = std::move(item);
    named.entries.push_back(std::move(entry));
  }
  list = std::move(named);
}

}  // namespace

void fill(const Keys& keys, const Given& root, const Outside& outside, Problems& problems,
          std::map<std::string, Where>& origins) {
  Filler filler(keys, "", outside, problems, origins);
  filler.fill_section(root, "");
  filler.fill_items();
}

void name_items(const Keys& keys, Given& root, Problems& problems) {
  for (const Key& key : keys) {
    if (key.items == nullptr || !key.items->listed) continue;
    Given* value = find_path(root, key.path);
    if (value == nullptr || value->shape != Shape::kList) continue;
    name_list(key, *value, problems);
  }
}

std::string path_of_item(std::string_view path, std::string_view name) {
  const bool plain = name.find_first_of(".\"= ") == std::string_view::npos;
  return plain ? fmt::format("{}.{}", path, name) : fmt::format("{}.\"{}\"", path, name);
}

}  // namespace recourse::app
