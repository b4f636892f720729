#include "sql/mysql/errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace recourse::sql::mysql {
namespace {

using testing::HasSubstr;

TEST(MysqlErrors, SayWhatToDo) {
  const std::map<ErrorCode, std::vector<unsigned int>> expected{
      {ErrorCode::kConflict, {1213, 1020, 1062, 1412, 1615}},
      {ErrorCode::kExhausted, {1205, 3572}},
      {ErrorCode::kUnavailable,
       {2002, 2003, 2005, 2006, 2013, 2055, 1927, 1053, 1040, 1203, 1317, 1969, 3024, 1021, 1114,
        1290, 1836, 3, 5014}},
      {ErrorCode::kInvalid, {1044, 1045, 1142, 1049, 1146, 1064, 1406, 1366, 1264, 1048}},
      {ErrorCode::kCorrupt, {1034, 1035, 1194, 1712, 1877}},
  };

  for (const auto& [code, numbers] : expected) {
    for (const unsigned int number : numbers) EXPECT_EQ(translate(number, "").code, code) << number;
  }
}

TEST(MysqlErrors, AdviseWhoReadsThem) {
  EXPECT_THAT(translate(1045, "Access denied").message, HasSubstr("check user and password"));
  EXPECT_THAT(translate(1142, "denied").message, HasSubstr("GRANT"));
  EXPECT_THAT(translate(1049, "Unknown database 'x'").message, HasSubstr("CREATE DATABASE"));
  EXPECT_THAT(translate(1114, "The table is full").message, HasSubstr("disk"));
  EXPECT_THAT(translate(1290, "--read-only").message, HasSubstr("primary"));
}

TEST(MysqlErrors, KeepMessagesShortAndClean) {
  const Error error = translate(1062, std::string(10'000, 'x') + '\xff');

  EXPECT_LT(error.message.size(), 600U);
}

TEST(MysqlErrors, TellWhichLeaveACommitOpen) {
  for (const unsigned int number : {2013U, 2006U, 1053U, 1927U, 1180U, 1317U}) {
    EXPECT_TRUE(leaves_commit_open(number)) << number;
  }
  for (const unsigned int number : {1213U, 1290U, 1205U}) {
    EXPECT_FALSE(leaves_commit_open(number)) << number;
  }
}

}  // namespace
}  // namespace recourse::sql::mysql
