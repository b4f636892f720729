#include "app/config/effective.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/config/keys.h"

namespace recourse::app {
namespace {

// As if only the named things and what they start from had been given, but nothing about them.
Config untouched(const Config& config) {
  Config base = default_config();
  for (const auto& [name, kind] : config.kinds) base.kinds.emplace(name, config.defaults);
  for (const auto& [name, token] : config.auth.tokens)
    base.auth.tokens.emplace(name, TokenConfig{});
  for (const auto& [name, guard] : config.guards)
    base.guards.emplace(name, new_guard(name, config));
  for (const auto& [name, source] : config.messages.sources)
    base.messages.sources.emplace(name, SourceConfig{});
  for (const auto& [name, schedule] : config.schedules) {
    base.schedules.emplace(name, new_schedule(name, config.defaults));
  }
  return base;
}

// Empty where nobody gave it.
std::string origin_of(const Config& config, const std::string& path) {
  const auto found = config.origins.find(path);
  return found == config.origins.end() ? std::string() : to_string(found->second);
}

}  // namespace

std::vector<Setting> settings_of(const Config& config, Which which) {
  Config own = config;
  Config base = untouched(config);
  std::map<std::string, std::string> defaults;
  for (const Key& key : all_keys_of(base)) {
    if (key.show) defaults[key.path] = key.show();
  }
  std::vector<Setting> settings;
  for (const Key& key : all_keys_of(own)) {
    if (!key.show) continue;
    const std::string value = key.show();
    const bool changed = value != defaults[key.path];
    if (value.empty() || (which == Which::kChanged && !changed)) continue;
    // One word may be given for a whole section, as in retention: 30d.
    const std::string section = key.path.substr(0, key.path.rfind('.'));
    settings.push_back({key.path, value, origin_of(config, key.path)});
    std::string& origin = settings.back().origin;
    if (changed && origin.empty() && defaults.contains(section))
      origin = origin_of(config, section);
    if (origin.empty()) origin = changed ? "derived" : "default";
  }
  return settings;
}

std::string to_text(const std::vector<Setting>& settings) {
  std::size_t width = 0;
  for (const Setting& setting : settings) {
    width = std::max(width, setting.path.size() + setting.value.size() + 2);
  }
  std::string text;
  for (const Setting& setting : settings) {
    const std::string pair = fmt::format("{}: {}", setting.path, setting.value);
    text += fmt::format("{:<{}}  # {}\n", pair, std::min<std::size_t>(width, 60), setting.origin);
  }
  return text;
}

}  // namespace recourse::app
