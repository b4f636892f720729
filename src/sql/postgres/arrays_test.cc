#include "sql/postgres/arrays.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "sql/postgres/wire_format.h"

namespace recourse::sql::postgres {
namespace {

using namespace std::string_view_literals;

TEST(ArrayParam, WithoutElementsHasNoDimension) {
  const Param param = ArrayParam(Element::kText).finish();

  EXPECT_EQ(param.type, kTextArrayType);
  EXPECT_EQ(param.binary, "\0\0\0\0\0\0\0\0\0\0\0\x19"sv);
}

TEST(ArrayParam, HoldsNumbersWithTheMostSignificantByteFirst) {
  ArrayParam numbers(Element::kInt8);

  numbers.add(std::numeric_limits<std::int64_t>::min());
  numbers.add(-2);
  const Param param = std::move(numbers).finish();

  EXPECT_EQ(param.type, kInt8ArrayType);
  EXPECT_EQ(param.binary,
            "\0\0\0\x01\0\0\0\0\0\0\0\x14\0\0\0\x02\0\0\0\x01"
            "\0\0\0\x08\x80\0\0\0\0\0\0\0"
            "\0\0\0\x08\xff\xff\xff\xff\xff\xff\xff\xfe"sv);
}

TEST(ArrayParam, MarksNullsAndKeepsThemApartFromEmptyBytes) {
  ArrayParam bytes(Element::kBytea);

  bytes.add_null();
  bytes.add(std::string_view());
  bytes.add("a\0b"sv);
  const Param param = std::move(bytes).finish();

  EXPECT_EQ(param.type, kByteaArrayType);
  EXPECT_EQ(param.binary,
            "\0\0\0\x01\0\0\0\x01\0\0\0\x11\0\0\0\x03\0\0\0\x01"
            "\xff\xff\xff\xff"
            "\0\0\0\0"
            "\0\0\0\x03"
            "a\0b"sv);
}

TEST(ArrayParam, AllocatesNothingMoreAfterAnExactReserve) {
  ArrayParam texts(Element::kText);
  texts.reserve(100, 300);

  for (int i = 0; i < 100; ++i) texts.add("abc"sv);
  const Param param = std::move(texts).finish();

  EXPECT_EQ(param.binary->size(), 20U + 100U * 7U);
  EXPECT_EQ(param.binary->capacity(), param.binary->size());
}

}  // namespace
}  // namespace recourse::sql::postgres
