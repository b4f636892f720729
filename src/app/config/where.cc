#include "app/config/where.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <utility>

namespace recourse::app {

std::string to_string(const Where& where) {
  switch (where.origin) {
    case Origin::kDefault: return "default";
    case Origin::kFile:
      if (where.line == 0) return where.name;
      return fmt::format("{}:{}:{}", where.name, where.line, where.column);
    case Origin::kEnvironment: return "environment variable " + where.name;
    case Origin::kFlag: return "flag " + where.name;
  }
  std::abort();
}

std::string to_string(const Problem& problem) {
  const bool is_error = problem.severity == Severity::kError;
  return fmt::format("{}: {}: {}", to_string(problem.where), is_error ? "error" : "warning",
                     problem.message);
}

void Problems::add(Problem problem) {
  has_errors_ = has_errors_ || problem.severity == Severity::kError;
  if (is_full()) {
    ++unlisted_;
  } else {
    listed_.push_back(std::move(problem));
  }
}

std::vector<Problem> Problems::take() && {
  const auto place = [](const Problem& problem) {
    const bool in_file = problem.where.line > 0;
    return std::tuple(!in_file, problem.where.line, problem.where.column);
  };
  std::ranges::stable_sort(listed_, {}, place);
  if (unlisted_ > 0) {
    const Severity severity = has_errors_ ? Severity::kError : Severity::kWarning;
    Where where = listed_.front().where;
    where.line = 0;
    listed_.push_back({severity, std::move(where), fmt::format("{} more problems", unlisted_)});
  }
  return std::move(listed_);
}

}  // namespace recourse::app
