#include "app/config/rows.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "app/config/size_text.h"
#include "base/duration_text.h"
#include "base/text.h"

namespace recourse::app {
namespace {

using namespace std::chrono_literals;

std::string not_this(std::string_view must, const Given& value) {
  if (value.shape == Shape::kText) return fmt::format("{}, not {}", must, shown(value.text));
  return fmt::format("{}, not {}", must, describe(value.shape));
}

// A row whose value is one word: `parse` answers nothing for what is not of its type or range.
template <class T, class Parse, class Print>
Key scalar(std::string path, std::string type, std::string allowed, const Place<T>& place,
           About about, Parse parse, Print print) {
  std::string must = "must be " + type + (allowed.empty() ? "" : ", " + allowed);
  Key key{.path = std::move(path),
          .type = std::move(type),
          .allowed = std::move(allowed),
          .about = about};
  key.put = [parse, must = std::move(must), set = place.set](const Given& value,
                                                             const Outside&) -> std::string {
    const std::optional<T> parsed =
        value.shape == Shape::kText ? parse(value.text) : std::optional<T>();
    if (!parsed) return not_this(must, value);
    set(*parsed);
    return {};
  };
  key.show = [print, get = place.get] {
    const std::optional<T> value = get();
    return value ? print(*value) : std::string();
  };
  key.compared = key.show;
  return key;
}

template <class T>
std::optional<T> parse_between(std::string_view text, T low, T high) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  // Written so that a NaN is refused too.
  return value >= low && value <= high ? std::optional(value) : std::nullopt;
}

template <class T>
Key whole_number(std::string path, const Place<T>& place, T low, T high, About about) {
  return scalar<T>(
      std::move(path), "an integer", fmt::format("{} to {}", low, high), place, about,
      [low, high](const std::string& text) { return parse_between<T>(text, low, high); },
      [](T value) { return fmt::format("{}", value); });
}

Key duration_row(std::string path, const Place<Duration>& place, Duration low, Duration high,
                 std::optional<Duration> bare, About about) {
  std::string allowed = fmt::format("{} to {}", format_duration(low), format_duration(high));
  if (bare)
    allowed += fmt::format("; a bare number counts in {}", format_duration(*bare).substr(1));
  const auto parse = [low, high, bare](const std::string& text) -> std::optional<Duration> {
    Duration value{};
    if (const auto number = bare ? parse_between<std::int64_t>(text, 0, 1'000'000'000'000)
                                 : std::optional<std::int64_t>()) {
      value = saturating_multiply(*bare, *number);
    } else if (const Result<Duration> parsed = parse_duration("", text)) {
      value = *parsed;
    } else {
      return std::nullopt;
    }
    return value >= low && value <= high ? std::optional(value) : std::nullopt;
  };
  return scalar<Duration>(std::move(path), "a duration such as 500ms, 30s or 1h30m",
                          std::move(allowed), place, about, parse, format_duration);
}

bool is_plain_word(std::string_view text) {
  const auto is_safe = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_./:@+-").find(c) != std::string_view::npos;
  };
  return std::ranges::all_of(text, is_safe) && !text.ends_with(':');
}

}  // namespace

Key boolean(std::string path, const Place<bool>& place, About about) {
  const auto parse = [](const std::string& text) -> std::optional<bool> {
    if (text == "true" || text == "True" || text == "TRUE") return true;
    if (text == "false" || text == "False" || text == "FALSE") return false;
    return std::nullopt;
  };
  return scalar<bool>(std::move(path), "true or false", "", place, about, parse,
                      [](bool value) { return std::string(value ? "true" : "false"); });
}

Key switch_of(std::string path, const Place<bool>& place, About about) {
  Key key = boolean(std::move(path), place, about);
  key.implied = "true";
  return key;
}

Key integer(std::string path, const Place<int>& place, int low, int high, About about) {
  return whole_number<int>(std::move(path), place, low, high, about);
}

Key count(std::string path, const Place<std::size_t>& place, std::size_t low, std::size_t high,
          About about) {
  return whole_number<std::size_t>(std::move(path), place, low, high, about);
}

Key number(std::string path, const Place<double>& place, double low, double high, About about) {
  return scalar<double>(
      std::move(path), "a number", fmt::format("{} to {}", low, high), place, about,
      [low, high](const std::string& text) { return parse_between<double>(text, low, high); },
      [](double value) { return fmt::format("{}", value); });
}

Key duration(std::string path, const Place<Duration>& place, Duration low, Duration high,
             About about) {
  return duration_row(std::move(path), place, low, high, std::nullopt, about);
}

Key milliseconds(std::string path, const Place<Duration>& place, Duration low, Duration high,
                 About about) {
  return duration_row(std::move(path), place, low, high, Duration(1ms), about);
}

Key seconds(std::string path, const Place<Duration>& place, Duration low, Duration high,
            About about) {
  return duration_row(std::move(path), place, low, high, Duration(1s), about);
}

Key size(std::string path, const Place<std::size_t>& place, std::size_t low, std::size_t high,
         About about) {
  return scalar<std::size_t>(
      std::move(path), "a size such as 64KiB or 8MiB",
      fmt::format("{} to {}", format_size(low), format_size(high)), place, about,
      [low, high](const std::string& text) -> std::optional<std::size_t> {
        const Result<std::size_t> parsed = parse_size(text);
        return parsed && *parsed >= low && *parsed <= high ? std::optional(*parsed) : std::nullopt;
      },
      format_size);
}

Key one_of(std::string path, const Place<std::string>& place, std::vector<std::string> words,
           About about) {
  const auto folded = [](std::string text) {
    for (char& c : text) {
      c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return text;
  };
  std::string type = fmt::format("one of {}", fmt::join(words, ", "));
  const auto parse = [words = std::move(words), folded](const std::string& text) {
    const auto found = std::ranges::find(words, folded(text), folded);
    return found == words.end() ? std::nullopt : std::optional(*found);
  };
  return scalar<std::string>(std::move(path), std::move(type), "", place, about, parse,
                             [](const std::string& value) { return value; });
}

Key unused(std::string_view why, Key key) {
  key.unused = why;
  return key;
}

Key unused_but_default(std::string_view why, Key key) {
  key.default_is_met = true;
  return unused(why, std::move(key));
}

Key required(Key key) {
  key.required = true;
  return key;
}

std::string quoted_if_needed(std::string_view text) {
  const bool ambiguous = text.empty() || text == "null" || !is_plain_word(text) ||
                         std::string_view("-:@").find(text.front()) != std::string_view::npos;
  if (!ambiguous) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace recourse::app
