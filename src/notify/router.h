// Which channels a notice goes to.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "notify/notice.h"

namespace recourse::notify {

// Safe to call from any thread; must not block.
class Router {
 public:
  virtual ~Router() = default;

  // Names of channels. One that is named twice is told once; one that is not known is passed over,
  // and the log says so.
  [[nodiscard]] virtual std::vector<std::string> route(const Notice& notice) const = 0;
};

enum class RouteMode : std::uint8_t {
  kFirst,  // the first rule that matches
  kAll,    // all that match
};

inline constexpr std::array kAllRouteModes{RouteMode::kFirst, RouteMode::kAll};

constexpr std::string_view to_string(RouteMode mode) {
  switch (mode) {
    case RouteMode::kFirst: return "first";
    case RouteMode::kAll: return "all";
  }
  std::abort();
}

// Matches where every condition holds; an empty one does.
struct RouteRule {
  std::string name = {};
  std::vector<Event> events = {};
  std::vector<std::string> tenants = {};
  // A kind, or `orders.*` for all that begin so.
  std::vector<std::string> kinds = {};
  Severity from = Severity::kInfo;
  // None: what matches is told to nobody.
  std::vector<std::string> channels = {};
};

struct RouterSettings {
  RouteMode mode = RouteMode::kFirst;
  std::vector<RouteRule> rules = {};
  // Of what no rule matches.
  std::vector<std::string> defaults = {"log"};
};

// The error names the rule, the channel that is unknown and those that are known.
Result<> validate(const RouterSettings& settings, std::span<const std::string> known_channels);

class RuleRouter final : public Router {
 public:
  explicit RuleRouter(RouterSettings settings) : settings_(std::move(settings)) {}

  [[nodiscard]] std::vector<std::string> route(const Notice& notice) const override;

 private:
  RouterSettings settings_;
};

}  // namespace recourse::notify
