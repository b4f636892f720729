#include "engine/core/rules.h"

#include <fmt/format.h>

#include <utility>

#include "base/invariant.h"

namespace recourse::engine {
namespace {

bool has_star(std::string_view name) { return name.ends_with('*'); }

}  // namespace

policy::Backoff backoff_of(const KindRules& rules, const std::string& name) {
  policy::BackoffSettings settings = rules.settings.backoff;
  if (!name.empty()) {
    settings.strategy = name;
    if (auto asked = policy::Backoff::make(*rules.backoffs, settings)) return *std::move(asked);
  }
  auto own = policy::Backoff::make(*rules.backoffs, rules.settings.backoff);
  invariant(own.has_value(), "a kind's backoff is checked when its rules are given");
  return *std::move(own);
}

Result<> KindTable::add(std::string_view name, KindRules rules) {
  const std::string_view stem = has_star(name) ? name.substr(0, name.size() - 1) : name;
  if (name.empty() || name.size() > task::kKindBytesMax ||
      stem.find('*') != std::string_view::npos) {
    return fail(ErrorCode::kInvalid,
                fmt::format("kind \"{}\" must have 1 to {} bytes, and a * only at its end", name,
                            task::kKindBytesMax));
  }
  if (Result<> valid = validate(rules.settings); !valid) {
    return fail(valid.error().code, fmt::format("kind \"{}\": {}", name, valid.error().message));
  }
  if (auto backoff = policy::Backoff::make(*rules.backoffs, rules.settings.backoff); !backoff) {
    return fail(backoff.error().code,
                fmt::format("kind \"{}\": {}", name, backoff.error().message));
  }
  if (!rules_.emplace(std::string(name), std::move(rules)).second) {
    return fail(ErrorCode::kInvalid, fmt::format("kind \"{}\" has a handler already", name));
  }
  return {};
}

const KindRules* KindTable::find(const task::Kind& kind) const {
  const auto found = rules_.find(name_for(kind));
  return found == rules_.end() ? nullptr : &found->second;
}

std::string KindTable::name_for(const task::Kind& kind) const {
  if (rules_.contains(kind.value)) return kind.value;
  std::string_view longest;
  for (const auto& [name, rules] : rules_) {
    if (fits(name, kind.value) && name.size() > longest.size()) longest = name;
  }
  return std::string(longest);
}

std::vector<task::Kind> KindTable::names() const {
  std::vector<task::Kind> names;
  for (const auto& [name, rules] : rules_) names.emplace_back(name);
  return names;
}

std::vector<task::Kind> KindTable::whole_names() const {
  std::vector<task::Kind> names;
  for (const auto& [name, rules] : rules_) {
    if (!has_star(name)) names.emplace_back(name);
  }
  return names;
}

}  // namespace recourse::engine
