// Decides by the C++ type of what was thrown: the closest registered type wins, however the types
// were registered, as a catch clause would if its clauses were sorted.
//
// Invariant: a case stands before the cases of all its bases, so that the first that matches is the
// closest. Whether one type is a base of another is found out as the language itself does, by
// throwing a pointer to the one and catching a pointer to the other, once, when the case is added.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <typeindex>
#include <typeinfo>
#include <vector>

#include "policy/decision.h"
#include "policy/failure.h"

namespace recourse::policy {

class ExceptionCases {
 public:
  // A case for the same type replaces the earlier one.
  template <class E>
  ExceptionCases& on(std::function<Decision(const E&)> decide) {
    add({.type = typeid(E),
         .throw_pointer = [] { throw static_cast<E*>(nullptr); },
         .catches = catches<E>,
         .decide = [decide = std::move(decide)](
                       const std::exception_ptr& error) { return decide_if<E>(error, decide); }});
    return *this;
  }

  // Nothing for what was not thrown, and for a type without a case.
  std::optional<Decision> operator()(const Failure& failure) const;

 private:
  struct Case {
    std::type_index type;
    void (*throw_pointer)();
    bool (*catches)(void (*throw_pointer)());
    std::function<std::optional<Decision>(const std::exception_ptr&)> decide;
  };

  template <class E>
  static bool catches(void (*throw_pointer)()) {
    try {
      throw_pointer();
    } catch (E*) {
      return true;
    } catch (...) {
      return false;
    }
    return false;
  }

  template <class E>
  static std::optional<Decision> decide_if(const std::exception_ptr& error,
                                           const std::function<Decision(const E&)>& decide) {
    try {
      std::rethrow_exception(error);
    } catch (const E& matched) {
      return decide(matched);
    } catch (...) {
      return std::nullopt;
    }
  }

  void add(Case added);

  std::vector<Case> cases_;
};

// std::runtime_error and all below it retry, with time-outs and I/O in their
// categories; std::logic_error is a bug, and repeating a bug heals nothing. What is no
// std::exception has no case.
ExceptionCases standard_exception_cases();

}  // namespace recourse::policy
