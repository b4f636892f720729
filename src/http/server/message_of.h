// What somebody else's code threw, in words.
#pragma once

#include <exception>
#include <string>

namespace recourse::http {

inline std::string message_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "something that is not a std::exception";
  }
}

}  // namespace recourse::http
