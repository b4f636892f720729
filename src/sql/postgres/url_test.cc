#include "sql/postgres/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recourse::sql::postgres {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(PostgresUrl, MayBeWrittenInEitherWay) {
  EXPECT_TRUE(check_url("postgres://user:secret@host:5432/db"));
  EXPECT_TRUE(check_url("postgresql://user@/db?host=%2Ftmp%2Fsocket"));
  EXPECT_TRUE(check_url("postgres://a:1,b:2/db?target_session_attrs=read-write"));
  EXPECT_TRUE(check_url("postgres://user@host/db?application_name=me@home"));
}

TEST(PostgresUrl, IsRefusedWithoutShowingThePassword) {
  for (const char* url : {
           "mysql://user:secret@host/db",
           "postgres://user:secret%zz@host/db",
           "postgres://user:sec@secret@host/db",
           "postgres://user:1/secret@host/db",
           "postgres://user:secret/db",
           "postgres://user:s?x@secret@host/db",
           "postgres://host/db?nonsense=secret",
           "",
       }) {
    const Result<> checked = check_url(url);

    ASSERT_FALSE(checked) << url;
    EXPECT_EQ(checked.error().code, ErrorCode::kInvalid) << url;
    EXPECT_THAT(checked.error().message, Not(HasSubstr("secret"))) << url;
    EXPECT_THAT(checked.error().message, HasSubstr("postgres://user:password@host")) << url;
  }
}

}  // namespace
}  // namespace recourse::sql::postgres
