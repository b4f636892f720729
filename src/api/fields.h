// A JSON object from outside: each member is asked for by name and type, what is wrong is collected
// with its pointer, and what nobody asked for is wrong too.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/problem.h"
#include "base/result.h"
#include "base/time.h"

namespace recourse::api {

inline constexpr std::size_t kJsonDepthMax = 32;

// The whole body; kInvalid says where it is not JSON.
Result<boost::json::value> parse_json(std::string_view text);

class Fields {
 public:
  // `object` and `errors` outlive it. `pointer` leads to the object, empty for the body itself.
  Fields(const boost::json::object& object, std::string pointer, std::vector<FieldError>& errors)
      : object_(object), pointer_(std::move(pointer)), errors_(errors) {}

  // Empty where it is missing or null, and where it is wrong, which is noted.
  std::optional<std::string> text(std::string_view name);
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t low, std::int64_t high);
  std::optional<bool> boolean(std::string_view name);
  // "30s", or a number of seconds.
  std::optional<Duration> duration(std::string_view name, Duration most,
                                   Duration least = Duration::zero());
  std::optional<TimePoint> time(std::string_view name);
  std::optional<std::map<std::string, std::string>> texts_by_name(std::string_view name);
  // One text, or a list of them.
  std::optional<std::vector<std::string>> texts(std::string_view name, std::size_t most);
  const boost::json::object* object(std::string_view name);
  const boost::json::array* array(std::string_view name, std::size_t most);
  // Noted where it is missing or empty, so that an empty answer is always one that was noted.
  std::string required_text(std::string_view name);
  // Seen, whatever it is.
  bool has(std::string_view name);

  void refuse(std::string_view name, std::string detail);
  [[nodiscard]] std::string pointer_to(std::string_view name) const;
  // Names what was not asked for. Call it last.
  void refuse_others();

 private:
  const boost::json::value* find(std::string_view name);

  const boost::json::object& object_;
  std::string pointer_;
  std::vector<FieldError>& errors_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace recourse::api
