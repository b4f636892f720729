#include "sql/postgres/placeholders.h"

#include <gtest/gtest.h>

namespace recourse::sql::postgres {
namespace {

TEST(Placeholders, AreNumberedInTheirOrder) {
  EXPECT_EQ(with_numbered_placeholders("INSERT INTO t VALUES (?, ?,?)"),
            "INSERT INTO t VALUES ($1, $2,$3)");
  EXPECT_EQ(with_numbered_placeholders("?"), "$1");
  EXPECT_EQ(with_numbered_placeholders(""), "");
}

TEST(Placeholders, GoBeyondNine) {
  EXPECT_EQ(with_numbered_placeholders("??????????? "), "$1$2$3$4$5$6$7$8$9$10$11 ");
}

TEST(Placeholders, AreNotSeenInsideQuotes) {
  EXPECT_EQ(with_numbered_placeholders("SELECT 'why?', \"a?b\", ?"), "SELECT 'why?', \"a?b\", $1");
  EXPECT_EQ(with_numbered_placeholders("SELECT 'it''s ?', ?"), "SELECT 'it''s ?', $1");
  EXPECT_EQ(with_numbered_placeholders("DO $$ ? ' $$; ?"), "DO $$ ? ' $$; $1");
  EXPECT_EQ(with_numbered_placeholders("DO $a1$ ? $$ ? $a1$ ?"), "DO $a1$ ? $$ ? $a1$ $1");
}

TEST(Placeholders, AreNotSeenInsideComments) {
  EXPECT_EQ(with_numbered_placeholders("SELECT -- really?\n ?"), "SELECT -- really?\n $1");
  EXPECT_EQ(with_numbered_placeholders("SELECT /* ' ? */ ?"), "SELECT /* ' ? */ $1");
}

TEST(Placeholders, StayAsTheyAreInAQuoteThatIsNeverClosed) {
  EXPECT_EQ(with_numbered_placeholders("SELECT 'a ?"), "SELECT 'a ?");
  EXPECT_EQ(with_numbered_placeholders("SELECT $x ?"), "SELECT $x $1");
}

}  // namespace
}  // namespace recourse::sql::postgres
