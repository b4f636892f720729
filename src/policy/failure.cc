#include "policy/failure.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <typeinfo>

#include "base/duration_text.h"
#include "base/text.h"

namespace recourse::policy {
namespace {

std::string readable_name(const std::type_info& type) {
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, nullptr), std::free);
  return name == nullptr ? type.name() : name.get();
}

struct Describe {
  FailureText operator()(const Thrown& thrown) const {
    if (!thrown.error) return {"exception", "no exception was kept"};
    try {
      std::rethrow_exception(thrown.error);
    } catch (const std::exception& error) {
      return {readable_name(typeid(error)), error.what()};
    } catch (...) {
      // Anything may be thrown in C++; its type is all that can be said of it.
      const std::type_info* const type = abi::__cxa_current_exception_type();
      const std::string name = type == nullptr ? "unknown" : readable_name(*type);
      return {name, "a value of type " + name + " was thrown"};
    }
  }
  FailureText operator()(const Declined& declined) const { return {"declined", declined.reason}; }
  FailureText operator()(const TimedOut& timed_out) const {
    return {"timeout", "no answer within " + format_duration(timed_out.limit)};
  }
  FailureText operator()(const Unreachable& unreachable) const {
    return {"unreachable", unreachable.reason};
  }
  FailureText operator()(const HttpAnswer& answer) const {
    return {"http", fmt::format("HTTP {} {}", answer.status, answer.reason)};
  }
  FailureText operator()(const SqlFailure& failure) const {
    return {"sql", fmt::format("{} ({})", failure.message, failure.state)};
  }
};

}  // namespace

FailureText describe(const Failure& failure) {
  FailureText text = std::visit(Describe{}, failure);
  text.message = clean_text(text.message, kErrorCharactersMax);
  return text;
}

}  // namespace recourse::policy
