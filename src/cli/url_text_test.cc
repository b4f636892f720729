#include "cli/url_text.h"

#include <gtest/gtest.h>

namespace recourse::cli {
namespace {

TEST(UrlText, KeepsANameOneSegment) {
  EXPECT_EQ(percent_encoded("grant-points_1.a~"), "grant-points_1.a~");
  EXPECT_EQ(percent_encoded("a/b?c d%"), "a%2Fb%3Fc%20d%25");
  EXPECT_EQ(percent_encoded("ü"), "%C3%BC");
}

TEST(UrlText, JoinsParametersAndEncodesBothSides) {
  EXPECT_EQ(query_text({}), "");
  EXPECT_EQ(query_text({{"key.a b", "1&2"}, {"state", "dead"}}), "?key.a%20b=1%262&state=dead");
}

}  // namespace
}  // namespace recourse::cli
