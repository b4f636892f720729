#include "policy/exception_cases.h"

#include <algorithm>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace recourse::policy {

std::optional<Decision> ExceptionCases::operator()(const Failure& failure) const {
  const auto* const thrown = std::get_if<Thrown>(&failure);
  if (thrown == nullptr || !thrown->error) return std::nullopt;
  for (const Case& known : cases_) {
    if (std::optional<Decision> decision = known.decide(thrown->error)) return decision;
  }
  return std::nullopt;
}

void ExceptionCases::add(Case added) {
  const auto same = std::ranges::find(cases_, added.type, &Case::type);
  if (same != cases_.end()) {
    *same = std::move(added);
    return;
  }
  const auto base = std::ranges::find_if(
      cases_, [&](const Case& known) { return known.catches(added.throw_pointer); });
  // Mostly none is left there; but a type that has a base twice is not caught as that base, and so
  // may stand behind it.
  const auto place = std::stable_partition(
      base, cases_.end(), [&](const Case& known) { return added.catches(known.throw_pointer); });
  cases_.insert(place, std::move(added));
}

ExceptionCases standard_exception_cases() {
  ExceptionCases cases;
  cases.on<std::runtime_error>([](const std::runtime_error& error) {
    return retry(Category::kBizRetryable, "HANDLER_ERROR", error.what());
  });
  cases.on<std::system_error>([](const std::system_error& error) {
    const bool timeout = error.code() == std::errc::timed_out;
    return timeout ? retry(Category::kTimeout, "TIMEOUT", error.what())
                   : retry(Category::kIo, "IO_ERROR", error.what());
  });
  cases.on<std::logic_error>([](const std::logic_error& error) {
    return dead_letter(Category::kUnknown, "LOGIC_ERROR", error.what());
  });
  return cases;
}

}  // namespace recourse::policy
