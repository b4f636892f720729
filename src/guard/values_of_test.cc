#include "guard/values_of.h"

#include <gtest/gtest.h>

#include "sql/identifier.h"

namespace recourse::guard {
namespace {

TEST(ValueOf, ANumbersColumnTakesWholeNumbersOnly) {
  const Column column{.name = "id", .type = "bigint", .sort = ColumnSort::kNumber};
  EXPECT_EQ(value_of(column, "42").value(), RowId(42));
  for (const char* wrong : {"", "4 2", "0x1", "1e3", "99999999999999999999"})
    EXPECT_FALSE(value_of(column, wrong)) << wrong;
}

TEST(ValueOf, ATextColumnTakesPlainText) {
  const Column column{.name = "id", .type = "text", .sort = ColumnSort::kText};
  EXPECT_EQ(value_of(column, "42").value(), RowId("42"));
  EXPECT_EQ(value_of(column, "' OR 1=1").value(), RowId("' OR 1=1"));
  EXPECT_FALSE(value_of(column, std::string("a\0b", 3)));
  EXPECT_FALSE(value_of(column, "\xC3"));
  EXPECT_FALSE(value_of(column, std::string(256, 'a')));
}

TEST(ValueOf, AColumnOfAnythingGoesByItsLooks) {
  const Column column{.name = "id", .type = "", .sort = ColumnSort::kEither};
  EXPECT_EQ(value_of(column, "42").value(), RowId(42));
  EXPECT_EQ(value_of(column, "42a").value(), RowId("42a"));
}

TEST(ValueOf, AUuidIsWrittenAsTheDatabaseWritesIt) {
  const Column column{.name = "id", .type = "uuid", .sort = ColumnSort::kOther};
  EXPECT_EQ(value_of(column, "0F8FAD5BD9CB469FA16570867728950E").value(),
            RowId("0f8fad5b-d9cb-469f-a165-70867728950e"));
  EXPECT_FALSE(value_of(column, "0f8fad5b"));
  EXPECT_FALSE(value_of(column, "zf8fad5b-d9cb-469f-a165-70867728950e"));
}

TEST(QuotedName, WhateverIsInItIsPartOfTheName) {
  EXPECT_EQ(sql::postgres::quoted("a\"; DROP TABLE b; --"), "\"a\"\"; DROP TABLE b; --\"");
  EXPECT_EQ(sql::sqlite::quoted("select"), "\"select\"");
  EXPECT_EQ(sql::mysql::quoted("a`b\"c"), "`a``b\"c`");
}

}  // namespace
}  // namespace recourse::guard
