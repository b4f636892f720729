// Which route a request takes. Pure: it knows methods and paths, not what is done there.
//
// A template is made of literal segments and parameters: `/api/v1/tasks/{id}/retry`. Where two
// match one path, the one with a literal in place of a parameter wins; two of which neither is the
// closer one are refused when the table is made, and so is one parameter under two names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "http/message.h"

namespace recourse::http {

struct Route {
  Method method = Method::kGet;
  std::string pattern = {};
};

class Router {
 public:
  static Result<Router> make(std::vector<Route> routes);

  struct Found {
    std::size_t route = 0;  // its place in routes()
    // In the template's order; the names are the router's own.
    std::vector<std::pair<std::string_view, std::string>> parameters = {};

    // Empty where the template has none of that name.
    [[nodiscard]] std::string_view parameter(std::string_view name) const;
  };
  struct NotFound {};
  // 405, or the answer to OPTIONS: what Allow says.
  struct WrongMethod {
    std::string allow = {};
  };
  struct Options {
    std::string allow = {};
  };
  using Match = std::variant<Found, NotFound, WrongMethod, Options>;

  // HEAD takes the route of GET, and OPTIONS is answered with what there is, unless they have
  // routes of their own.
  [[nodiscard]] Match match(Method method, const std::vector<std::string>& path) const;

  // In the order they were given.
  [[nodiscard]] const std::vector<Route>& routes() const { return routes_; }

 private:
  struct Segment {
    std::string text;  // a literal, or a parameter's name
    bool is_parameter = false;
  };
  struct Pattern {
    std::size_t route = 0;
    Method method = Method::kGet;
    std::vector<Segment> segments = {};
  };

  static Result<std::vector<Segment>> parse(std::string_view pattern);
  static Result<Segment> parse_segment(std::string_view text);
  static Result<> check_pair(const Pattern& a, const Pattern& b);
  static bool fits(const Pattern& pattern, const std::vector<std::string>& path);
  static Found found(const Pattern& pattern, const std::vector<std::string>& path);
  [[nodiscard]] const Pattern* find(Method method, const std::vector<std::string>& path) const;
  [[nodiscard]] std::string allow(const std::vector<std::string>& path) const;

  std::vector<Route> routes_;
  // By the number of segments; within one, those with more literals first.
  std::vector<std::vector<Pattern>> by_length_;
};

}  // namespace recourse::http
