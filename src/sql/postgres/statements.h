// Which statements this connection has prepared. A statement is known by its text and by the types
// of its values: the binary form of a number must never meet a statement that expects another.
//
// Thread safety: none.
#pragma once

#include <libpq-fe.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace recourse::sql::postgres {

struct Prepared {
  // A preparation may fail, or be skipped because something before it failed: only the reply tells.
  enum class State : std::uint8_t { kUnsent, kSent, kConfirmed };

  std::string name;
  std::string numbered_text;
  std::vector<Oid> types;
  State state = State::kUnsent;
};

class Statements {
 public:
  // Statements are few, all written in the program. What comes after these is not prepared.
  static constexpr std::size_t kCountMax = 500;

  // Null when there is no room. A type of 0 (a NULL) fits any. Stays valid.
  Prepared* find_or_add(std::string_view text, std::span<const Oid> types);

  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  struct TextHash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  using Variants = std::vector<std::unique_ptr<Prepared>>;

  std::unordered_map<std::string, Variants, TextHash, std::equal_to<>> by_text_;
  std::size_t count_ = 0;
};

}  // namespace recourse::sql::postgres
