// A reference to something callable, for a parameter that is called before the function returns:
// no allocation and no template in the callee. It must not be kept.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace recourse {

template <class Signature>
class FunctionRef;

template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> &&
             std::is_object_v<std::remove_reference_t<F>> && std::is_invocable_r_v<R, F&, Args...>)
  // Implicit, so that a lambda can be passed where one is asked for.
  // NOLINTNEXTLINE(google-explicit-constructor)
  FunctionRef(F&& callable)
      : callable_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* target, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(target))(std::forward<Args>(args)...);
        }) {}

  R operator()(Args... args) const { return call_(callable_, std::forward<Args>(args)...); }

 private:
  void* callable_;
  R (*call_)(void*, Args...);
};

}  // namespace recourse
