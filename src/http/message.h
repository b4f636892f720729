// One HTTP request and its answer, as values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace recourse::http {

enum class Method : std::uint8_t { kGet, kHead, kPost, kPut, kPatch, kDelete, kOptions };

std::string_view to_string(Method method);

// Of headers, and of the words that some of them hold: without regard to capitals.
bool is_same_name(std::string_view a, std::string_view b);
std::string in_lower_case(std::string_view text);

// In their order. Names are compared without regard to capitals.
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<std::pair<std::string, std::string>> fields) : fields_(fields) {}

  void add(std::string name, std::string value);
  // Instead of what was there.
  void set(std::string_view name, std::string value);
  // The first of that name.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;
  void reserve(std::size_t count) { fields_.reserve(count); }
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& fields() const {
    return fields_;
  }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

struct Request {
  Method method = Method::kGet;
  // Decoded, without the query, in segments: `/api/v1/tasks/tsk_1` is {"api", "v1", "tasks",
  // "tsk_1"}. A segment may hold any character, a slash that was sent as %2F included.
  std::vector<std::string> path = {};
  // Decoded, in their order.
  std::vector<std::pair<std::string, std::string>> query = {};
  Headers headers = {};
  std::string body = {};
  // The client's address, without a port.
  std::string peer = {};

  // The first of that name.
  [[nodiscard]] std::optional<std::string_view> parameter(std::string_view name) const;
};

struct Response {
  int status = 200;
  // Without Content-Length, Connection, Date and Server: the transport writes those.
  Headers headers = {};
  std::string body = {};
};

}  // namespace recourse::http
