// Bytes as the headers of a task, which are text: what is plain stays as it is, for people and for
// services that read them; the rest is percent-encoded under a name that ends in `*`. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace recourse::message {

// Printable ASCII without '%'.
std::string percent_encoded(std::string_view bytes);
// The same for a header's name: without '*' and '#' too, which mean something here.
std::string percent_encoded_name(std::string_view bytes);
std::string percent_decoded(std::string_view text);

// Fills the headers of a task up to what they hold.
class HeaderWriter {
 public:
  explicit HeaderWriter(std::map<std::string, std::string>& headers) : headers_(headers) {}

  // False: there is no room for it.
  bool put(std::string name, std::string_view value);

 private:
  std::map<std::string, std::string>& headers_;
  std::size_t bytes_ = 0;
};

// Empty where it was not put.
std::optional<std::string> read_header(const std::map<std::string, std::string>& headers,
                                       const std::string& name);

}  // namespace recourse::message
