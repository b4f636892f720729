#include "tests/support/recorded_statements.h"

#include <algorithm>
#include <cstdlib>

namespace recourse::tests {
namespace {

KeptValue keep(const sql::Value& value) {
  using Type = KeptValue::Type;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    return {.type = Type::kInteger, .integer = *integer, .text = {}};
  }
  if (const auto* text = std::get_if<sql::Text>(&value)) {
    return {.type = Type::kText, .integer = 0, .text = std::string(text->value)};
  }
  if (const auto* bytes = std::get_if<sql::Bytes>(&value)) {
    return {.type = Type::kBytes, .integer = 0, .text = std::string(bytes->value)};
  }
  return {};
}

}  // namespace

sql::Value KeptValue::view() const {
  switch (type) {
    case Type::kNull: return sql::Null{};
    case Type::kInteger: return integer;
    case Type::kText: return sql::Text{text};
    case Type::kBytes: return sql::Bytes{text};
  }
  std::abort();
}

void Recorder::note(std::string_view text, std::span<const sql::Value> values) {
  if (knows(text)) return;
  std::vector<KeptValue> kept;
  std::ranges::transform(values, std::back_inserter(kept), keep);
  statements_.push_back({.text = std::string(text), .values = std::move(kept)});
}

void Recorder::note(std::string_view text, std::span<const sql::postgres::Param> params) {
  if (knows(text)) return;
  statements_.push_back(
      {.text = std::string(text),
       .values = std::vector<sql::postgres::Param>(params.begin(), params.end())});
}

bool Recorder::knows(std::string_view text) const {
  return std::ranges::find(statements_, text, &Statement::text) != statements_.end();
}

}  // namespace recourse::tests
