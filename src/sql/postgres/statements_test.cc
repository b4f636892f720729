#include "sql/postgres/statements.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "sql/postgres/wire_format.h"

namespace recourse::sql::postgres {
namespace {

TEST(Statements, AreTheSameForTheSameTextAndTypes) {
  Statements statements;
  const std::array types{kInt8Type, kTextType};

  Prepared* first = statements.find_or_add("SELECT ?, ?", types);
  Prepared* again = statements.find_or_add("SELECT ?, ?", types);

  EXPECT_EQ(first, again);
  EXPECT_EQ(first->numbered_text, "SELECT $1, $2");
  EXPECT_EQ(statements.count(), 1U);
}

TEST(Statements, TakeANullForAnyType) {
  Statements statements;
  Prepared* known = statements.find_or_add("SELECT ?", std::array{kInt8Type});

  EXPECT_EQ(statements.find_or_add("SELECT ?", std::array{kUnknownType}), known);
}

TEST(Statements, ArePreparedAnewWhenANullTurnsOutToBeANumber) {
  Statements statements;
  const Prepared* unknown =
      statements.find_or_add("SELECT ?, ?", std::array{kUnknownType, kTextType});

  const Prepared* known =
      statements.find_or_add("SELECT ?, ?", std::array{kInt8Type, kUnknownType});

  EXPECT_NE(known, unknown);
  EXPECT_NE(known->name, unknown->name);
  EXPECT_EQ(known->types, (std::vector<Oid>{kInt8Type, kTextType}));
}

TEST(Statements, KeepNumbersApartFromTexts) {
  Statements statements;

  EXPECT_NE(statements.find_or_add("SELECT ?", std::array{kInt8Type}),
            statements.find_or_add("SELECT ?", std::array{kTextType}));
}

TEST(Statements, AreRefusedBeyondTheBoundButFoundBelowIt) {
  Statements statements;
  for (std::size_t i = 0; i < Statements::kCountMax; ++i) {
    ASSERT_NE(statements.find_or_add("SELECT " + std::to_string(i), {}), nullptr);
  }

  EXPECT_EQ(statements.find_or_add("SELECT 'one more'", {}), nullptr);
  EXPECT_NE(statements.find_or_add("SELECT 7", {}), nullptr);
}

}  // namespace
}  // namespace recourse::sql::postgres
