// How a row of the table is written down, by the type of its value.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/config/key.h"
#include "base/time.h"

namespace recourse::app {

Key boolean(std::string path, const Place<bool>& place, About about);

Key integer(std::string path, const Place<int>& place, int low, int high, About about);
Key count(std::string path, const Place<std::size_t>& place, std::size_t low, std::size_t high,
          About about);
Key number(std::string path, const Place<double>& place, double low, double high, About about);

// 500ms, 30s, 1h30m.
Key duration(std::string path, const Place<Duration>& place, Duration low, Duration high,
             About about);
// The same, and a bare number in that unit, as older files have it.
Key milliseconds(std::string path, const Place<Duration>& place, Duration low, Duration high,
                 About about);
Key seconds(std::string path, const Place<Duration>& place, Duration low, Duration high,
            About about);

// 64MiB.
Key size(std::string path, const Place<std::size_t>& place, std::size_t low, std::size_t high,
         About about);

// What is wrong with a text ("must be ..."), or nothing.
using TextCheck = std::function<std::string(std::string_view)>;
Key text(std::string path, const Place<std::string>& place, About about, TextCheck check = nullptr);
Key list(std::string path, const Place<std::vector<std::string>>& place, About about,
         TextCheck check_each = nullptr);
using TextMap = std::map<std::string, std::string>;
Key text_map(std::string path, const Place<TextMap>& place, About about,
             TextCheck check_name = nullptr);

// env:NAME or file:PATH, and nothing else.
Key secret(std::string path, const Place<Secret>& place, std::size_t bytes_min, About about);
Key secrets(std::string path, const Place<std::vector<Secret>>& place, std::size_t bytes_min,
            About about);
using SecretMap = std::map<std::string, Secret>;
Key secret_map(std::string path, const Place<SecretMap>& place, About about);
// A database's URL. With a password in it: env:NAME or file:PATH, or straight from the environment.
Key store_url(std::string path, const Place<Secret>& place, About about);
// The same of a message broker.
Key broker_url(std::string path, const Place<Secret>& place, About about);

// The words as they stand; what is given may be in capitals, with - or _.
Key one_of(std::string path, const Place<std::string>& place, std::vector<std::string> words,
           About about);

enum class Spelling : std::uint8_t { kAsNamed, kCapitals };

template <class Enum, std::size_t N>
Key choice(std::string path, const Place<Enum>& place, const std::array<Enum, N>& all, About about,
           Spelling spelling = Spelling::kAsNamed) {
  const auto name_of = [spelling](Enum value) {
    std::string name(to_string(value));
    if (spelling == Spelling::kCapitals) {
      for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    return name;
  };
  std::vector<std::string> words;
  for (const Enum value : all) words.push_back(name_of(value));
  Place<std::string> by_name{[get = place.get, name_of]() -> std::optional<std::string> {
                               const std::optional<Enum> value = get();
                               return value ? std::optional(name_of(*value)) : std::nullopt;
                             },
                             [set = place.set, all, name_of](const std::string& name) {
                               for (const Enum value : all) {
                                 if (name_of(value) == name) set(value);
                               }
                             }};
  return one_of(std::move(path), by_name, std::move(words), about);
}

// `false` for a whole section; giving one of its keys switches it on.
Key switch_of(std::string path, const Place<bool>& place, About about);

// As YAML would read it back.
std::string quoted_if_needed(std::string_view text);

// Builders for the rare words about a row.
Key unused(std::string_view why, Key key);
Key unused_but_default(std::string_view why, Key key);
Key required(Key key);

}  // namespace recourse::app
