#include "sql/mysql/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace recourse::sql::mysql {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Address, ReadsEveryPartAndUndoesPercentEncoding) {
  const Address address =
      parse_address("mysql://ann%40home:p%40ss%2Fw%3Ard@db.example:3307/re%20course").value();

  EXPECT_EQ(address.user, "ann@home");
  EXPECT_EQ(address.password, "p@ss/w:rd");
  EXPECT_EQ(address.host, "db.example");
  EXPECT_EQ(address.port, 3307);
  EXPECT_EQ(address.database, "re course");
  EXPECT_EQ(address.tls, Tls::kOff);
  EXPECT_EQ(where(address), "db.example:3307");
}

TEST(Address, TakesTheUsualPortASocketAndTls) {
  const Address remote = parse_address("mariadb://u@[::1]/d?tls=on&tls_ca=%2Fetc%2Fca.pem").value();
  const Address local = parse_address("mysql://u@/d?socket=/run/mysqld/mysqld.sock").value();

  EXPECT_EQ(remote.host, "::1");
  EXPECT_EQ(remote.port, 3306);
  EXPECT_EQ(remote.tls, Tls::kVerified);
  EXPECT_EQ(remote.tls_ca, "/etc/ca.pem");
  EXPECT_EQ(where(local), "/run/mysqld/mysqld.sock");
}

TEST(Address, NeedNotNameADatabase) {
  EXPECT_EQ(parse_address("mysql://u@h").value().database, "");
  EXPECT_EQ(parse_address("mysql://u@h/?tls=on").value().database, "");
}

TEST(Address, RefusesAPathThatNoSocketCanHave) {
  EXPECT_TRUE(parse_address("mysql://u@/d?socket=/" + std::string(106, 's')));
  EXPECT_FALSE(parse_address("mysql://u@/d?socket=/" + std::string(107, 's')));
}

TEST(Address, RefusesWhatItCannotReadWithTheRightFormAndWithoutThePassword) {
  for (const char* url : {
           "",
           "secret",
           "postgres://u:secret@h/d",
           "mysql://u:secret@h/a/b",
           "mysql://u:secret@h:0/d",
           "mysql://u:secret@h:99999/d",
           "mysql://u:secret@h:x/d",
           "mysql://u:secret@/d",
           "mysql://u:sec@ret@h/d",
           "mysql://u:sec/ret@h/d",
           "mysql://u:sec#secret@h/d",
           "mysql://u:secret@h/d?tls=maybe",
           "mysql://u:secret@h/d?secret=1",
           "mysql://u:secret%zz@h/d",
       }) {
    const Result<Address> refused = parse_address(url);

    ASSERT_FALSE(refused) << url;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(refused.error().message, HasSubstr("mysql://user:password@host:3306/database"));
    EXPECT_THAT(refused.error().message, Not(HasSubstr("sec")));
  }
}

}  // namespace
}  // namespace recourse::sql::mysql
