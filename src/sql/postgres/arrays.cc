#include "sql/postgres/arrays.h"

#include <cstring>
#include <limits>
#include <utility>

#include "base/invariant.h"
#include "sql/postgres/wire_format.h"

namespace recourse::sql::postgres {
namespace {

// An array is: dimensions, whether there are NULLs, the elements' type, and for each dimension its
// size and first index; then the elements, each after its size. One without elements has no
// dimension.
constexpr std::size_t kEmptyHeaderBytes = 12;
constexpr std::size_t kHeaderBytes = 20;
constexpr std::size_t kSizeBytes = 4;
constexpr std::uint32_t kNullSize = 0xFFFF'FFFF;
constexpr std::size_t kBytesMax = std::numeric_limits<std::int32_t>::max();

struct Types {
  Oid element;
  Oid array;
};

Types types_of(Element element) {
  switch (element) {
    case Element::kInt8: return {kInt8Type, kInt8ArrayType};
    case Element::kText: return {kTextType, kTextArrayType};
    case Element::kBytea: return {kByteaType, kByteaArrayType};
  }
  std::abort();
}

}  // namespace

Param integer_param(std::int64_t number) {
  std::string binary(sizeof number, '\0');
  write_number(binary.data(), static_cast<std::uint64_t>(number));
  return {kInt8Type, std::move(binary)};
}

Param text_param(std::string_view text) { return {kTextType, std::string(text)}; }

Param bytes_param(std::string_view bytes) { return {kByteaType, std::string(bytes)}; }

Param value_param(Element element, std::optional<std::string> binary) {
  return {types_of(element).element, std::move(binary)};
}

ArrayParam::ArrayParam(Element element) : element_(element), buffer_(kHeaderBytes, '\0') {}

void ArrayParam::reserve(std::size_t elements, std::size_t bytes) {
  const std::size_t number_bytes = element_ == Element::kInt8 ? elements * sizeof(std::int64_t) : 0;
  buffer_.reserve(kHeaderBytes + elements * kSizeBytes + number_bytes + bytes);
}

void ArrayParam::add(std::int64_t number) {
  invariant(element_ == Element::kInt8, "a number goes into an array of numbers");
  char* to = grow(kSizeBytes + sizeof number);
  write_number(to, std::uint32_t{sizeof number});
  write_number(to + kSizeBytes, static_cast<std::uint64_t>(number));
}

void ArrayParam::add(std::string_view bytes) {
  invariant(element_ != Element::kInt8, "bytes go into an array of texts or bytes");
  invariant(bytes.size() <= kBytesMax, "a value fits into a protocol message");
  char* to = grow(kSizeBytes + bytes.size());
  write_number(to, static_cast<std::uint32_t>(bytes.size()));
  if (!bytes.empty()) std::memcpy(to + kSizeBytes, bytes.data(), bytes.size());
}

void ArrayParam::add_null() {
  write_number(grow(kSizeBytes), kNullSize);
  has_null_ = true;
}

Param ArrayParam::finish() && {
  const Types types = types_of(element_);
  char* header = buffer_.data();
  write_number(header, std::uint32_t{count_ == 0 ? 0U : 1U});
  write_number(header + 4, std::uint32_t{has_null_ ? 1U : 0U});
  write_number(header + 8, std::uint32_t{types.element});
  write_number(header + 12, count_);
  write_number(header + 16, std::uint32_t{1});
  if (count_ == 0) buffer_.resize(kEmptyHeaderBytes);
  return {types.array, std::move(buffer_)};
}

char* ArrayParam::grow(std::size_t bytes) {
  const std::size_t before = buffer_.size();
  buffer_.resize(before + bytes);
  ++count_;
  return buffer_.data() + before;
}

}  // namespace recourse::sql::postgres
