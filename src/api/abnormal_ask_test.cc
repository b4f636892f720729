#include "api/abnormal_ask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recourse::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

Result<AbnormalAsk> ask_of(std::string_view body) {
  return read_abnormal_ask(boost::json::parse(body).as_object());
}

// GUARD-15: the source's own example.
TEST(AbnormalAsk, IsReadAsTheSourceHasIt) {
  const auto ask = ask_of(R"({
    "pageNum": 3, "pageSize": 50, "serviceName": "异常处理示例",
    "serviceNameList": ["异常处理示例", "矿机购买卡牌销毁"],
    "errStatus": 4001, "errStatusList": [4000]})");

  ASSERT_TRUE(ask);
  EXPECT_EQ(ask->page_num, 3U);
  EXPECT_EQ(ask->page_size, 50U);
  EXPECT_THAT(ask->services, UnorderedElementsAre("异常处理示例", "矿机购买卡牌销毁"));
  EXPECT_THAT(ask->err_statuses, ElementsAre(4001, 4000));
}

TEST(AbnormalAsk, WhatIsMissingEmptyOrNullIsAsIfItWereNotThere) {
  for (const char* body :
       {"{}", R"({"pageNum":null,"serviceName":"","serviceNameList":[],"errStatusList":[null]})"}) {
    const auto ask = ask_of(body);

    ASSERT_TRUE(ask) << body;
    EXPECT_EQ(ask->page_num, 1U);
    EXPECT_EQ(ask->page_size, 20U);
    EXPECT_THAT(ask->services, IsEmpty());
    EXPECT_THAT(ask->err_statuses, IsEmpty());
  }
}

TEST(AbnormalAsk, NumbersMayBeTextsAsFormsSendThem) {
  const auto ask = ask_of(R"({"pageNum":"2","pageSize":"5","errStatus":"4000"})");

  ASSERT_TRUE(ask);
  EXPECT_EQ(ask->page_num, 2U);
  EXPECT_EQ(ask->page_size, 5U);
  EXPECT_THAT(ask->err_statuses, ElementsAre(4000));
}

TEST(AbnormalAsk, WhatCannotBeIsRefusedInTheSourcesLanguage) {
  for (const auto& [body, said] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"({"pageNum":0})", "pageNum 必须是"},
           {R"({"pageSize":501})", "pageSize 必须是 1 到 500"},
           {R"({"pageSize":1.5})", "pageSize 必须是"},
           {R"({"pageNum":9999,"pageSize":500})", "最多只能翻到第 10000 条"},
           {R"({"errStatus":"bad"})", "errStatus 必须是整数"},
           {R"({"serviceName":7})", "serviceName 必须是文本"}}) {
    const auto ask = ask_of(body);

    ASSERT_FALSE(ask) << body;
    EXPECT_THAT(ask.error().message, HasSubstr(said));
  }
}

}  // namespace
}  // namespace recourse::api
