// One row of the table of all keys, bound to the place its value goes to.
//
// The table is a function of a Config: keys_of(config) lists every key with a pointer into that
// very Config. So the default of a key is what a fresh Config holds, and parser, reference, `config
// show` and comparison all walk the same rows: nothing about a key is written twice.
//
// The rows of a Config are good as long as it is neither moved nor loses what they point to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/config/given.h"
#include "app/config/secret.h"

namespace recourse::app {

enum class Reload : std::uint8_t {
  kNow,      // a SIGHUP takes it over
  kRestart,  // the program must be started anew
};

struct About {
  // One sentence or a few, ending with a full stop.
  std::string_view text;
  Reload reload = Reload::kRestart;
  // For keys without a default.
  std::string_view example = {};
};

// What reading a value may need besides the value.
struct Outside {
  const Environment& environment;
};

struct Items;

struct Key {
  // From the section's or item's beginning, in kebab-case, with dots between the levels.
  std::string path;
  // duration, integer, ...
  std::string type;
  // In words, such as "10ms to 1h"; empty where the type says it all.
  std::string allowed = {};
  About about = {};
  // Of a kind or a channel: the types it is for, as people are told; empty: all.
  std::string_view only = {};
  // Why this version accepts and ignores it; empty where it does not.
  std::string_view unused = {};
  // Of such a key: its default is what happens anyway, so that giving it needs no warning.
  bool default_is_met = false;
  // Nobody can do without.
  bool required = false;
  // Empty, or what is wrong: "must be ...". Of a secret, nothing of the value.
  std::function<std::string(const Given& value, const Outside& outside)> put = nullptr;
  // As it would be written; empty where there is nothing.
  std::function<std::string()> show = nullptr;
  // Differs where the value differs, of secrets too: for comparing, never for showing.
  std::function<std::string()> compared = nullptr;
  // Of a switch that is also a section: what giving the section's keys means for the switch.
  std::string implied = {};
  // Of a map of named things.
  std::shared_ptr<const Items> items = nullptr;
};

using Keys = std::vector<Key>;

// Named things, each with the same keys: kinds, schedules, tokens.
struct Items {
  // The file has a list of maps with `name`, not a map by name.
  bool listed = false;
  std::size_t max = 1'000;
  // A new one, which starts from its defaults.
  std::function<Keys(const std::string& name)> add = nullptr;
  std::function<std::vector<std::pair<std::string, Keys>>()> all = nullptr;
  // What is wrong with the name; empty where nothing is.
  std::function<std::string(std::string_view name)> refuse_name = nullptr;
};

// Where a value is kept; `get` answers nothing where none is.
template <class T>
struct Place {
  std::function<std::optional<T>()> get;
  std::function<void(T)> set;
};

template <class T>
Place<T> at(T& value) {
  return {[&value] { return std::optional<T>(value); },
          [&value](T given) { value = std::move(given); }};
}

template <class T>
Place<T> maybe(std::optional<T>& value) {
  return {[&value] { return value; }, [&value](T given) { value = std::move(given); }};
}

// Giving one part makes the whole exist.
template <class Whole, class T>
Place<T> inside(std::optional<Whole>& whole, T Whole::*part) {
  return {[&whole, part] { return whole ? std::optional<T>((*whole).*part) : std::nullopt; },
          [&whole, part](T given) {
            if (!whole) whole.emplace();
            (*whole).*part = std::move(given);
          }};
}

// Rows of a part, under the part's own path.
inline void append(Keys& keys, std::string_view section, Keys part) {
  for (Key& key : part) {
    key.path = key.path.empty() ? std::string(section) : std::string(section) + "." + key.path;
    keys.push_back(std::move(key));
  }
}

}  // namespace recourse::app
