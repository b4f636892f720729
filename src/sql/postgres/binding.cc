#include "sql/postgres/binding.h"

#include <limits>

#include "base/invariant.h"
#include "sql/postgres/wire_format.h"

namespace recourse::sql::postgres {

void Binding::set(std::span<const Value> values) {
  resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) set_value(i, values[i]);
}

void Binding::set(std::span<const Param> params) {
  resize(params.size());
  for (std::size_t i = 0; i < params.size(); ++i) {
    const Param& param = params[i];
    if (param.binary) {
      set_bytes(i, param.type, *param.binary);
    } else {
      set_null(i, param.type);
    }
  }
}

void Binding::resize(std::size_t count) {
  types_.resize(count);
  pointers_.resize(count);
  lengths_.resize(count);
  formats_.resize(count, kBinaryFormat);
  numbers_.resize(count);
}

void Binding::set_value(std::size_t at, const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    write_number(numbers_[at].data(), static_cast<std::uint64_t>(*number));
    set_bytes(at, kInt8Type, std::string_view(numbers_[at].data(), numbers_[at].size()));
  } else if (const auto* text = std::get_if<Text>(&value)) {
    set_bytes(at, kTextType, text->value);
  } else if (const auto* bytes = std::get_if<Bytes>(&value)) {
    set_bytes(at, kByteaType, bytes->value);
  } else {
    set_null(at, kUnknownType);
  }
}

void Binding::set_bytes(std::size_t at, Oid type, std::string_view bytes) {
  invariant(bytes.size() <= std::numeric_limits<std::int32_t>::max(),
            "a value fits into a protocol message");
  types_[at] = type;
  // libpq takes a null pointer for NULL, and an empty view may have one.
  pointers_[at] = bytes.empty() ? "" : bytes.data();
  lengths_[at] = static_cast<int>(bytes.size());
}

void Binding::set_null(std::size_t at, Oid type) {
  types_[at] = type;
  pointers_[at] = nullptr;
  lengths_[at] = 0;
}

}  // namespace recourse::sql::postgres
