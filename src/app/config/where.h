// Where a value came from, and what is wrong with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace recourse::app {

enum class Origin : std::uint8_t { kDefault, kFile, kEnvironment, kFlag };

struct Where {
  Origin origin = Origin::kDefault;
  // The file's path, the variable's name or the flag's key.
  std::string name = {};
  // Of a file; both count from 1.
  int line = 0;
  int column = 0;
};

// recourse.yaml:3:5, environment variable RECOURSE__NODE__NAME, flag node.name
std::string to_string(const Where& where);

enum class Severity : std::uint8_t { kWarning, kError };

struct Problem {
  Severity severity = Severity::kError;
  Where where = {};
  // Whole sentences for people. Never the value of a secret.
  std::string message = {};
};

// recourse.yaml:3:5: error: server.threads must be ...
std::string to_string(const Problem& problem);

// All that is wrong, in the order of finding. Bounded: a file of nonsense makes a short list.
class Problems {
 public:
  static constexpr std::size_t kListedMax = 100;

  void error(Where where, std::string message) {
    add({Severity::kError, std::move(where), std::move(message)});
  }
  void warning(Where where, std::string message) {
    add({Severity::kWarning, std::move(where), std::move(message)});
  }

  // Finding out more about one more problem is in vain.
  [[nodiscard]] bool is_full() const { return listed_.size() >= kListedMax; }
  [[nodiscard]] bool has_errors() const { return has_errors_; }
  // By file line; what has none comes last.
  [[nodiscard]] std::vector<Problem> take() &&;

 private:
  void add(Problem problem);

  std::vector<Problem> listed_;
  std::size_t unlisted_ = 0;
  bool has_errors_ = false;
};

}  // namespace recourse::app
