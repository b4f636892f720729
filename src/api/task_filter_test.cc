#include "api/task_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace recourse::api {
namespace {

using testing::ElementsAre;
using Query = std::vector<std::pair<std::string, std::string>>;

class TaskFilterTest : public testing::Test {
 protected:
  store::Filter from(const Query& query) {
    errors_.clear();
    http::Request request;
    request.query = query;
    return read_filter(request, caller_, errors_);
  }
  store::Filter from(const char* text) {
    errors_.clear();
    const boost::json::value parsed = boost::json::parse(text);
    Fields fields(parsed.as_object(), "/filter", errors_);
    return read_filter(fields, caller_);
  }

  Identity caller_{.name = "vera", .role = Role::kViewer};
  std::vector<FieldError> errors_;
};

TEST_F(TaskFilterTest, AQueryAndABodyMeanTheSame) {
  const store::Filter query = from({{"state", "dead"},
                                    {"state", "failed"},
                                    {"kind", "mail"},
                                    {"tenant", "t"},
                                    {"unique_key", "u"},
                                    {"key.order", "o-1"},
                                    {"created_from", "2026-01-01T00:00:00Z"},
                                    {"created_before", "2026-02-01T00:00:00Z"}});
  EXPECT_TRUE(errors_.empty());
  const store::Filter body = from(R"({"state":["dead","failed"],"kind":"mail","tenant":"t",
    "unique_key":"u","keys":{"order":"o-1"},"created_from":"2026-01-01T00:00:00Z",
    "created_before":"2026-02-01T00:00:00Z"})");
  EXPECT_TRUE(errors_.empty());
  for (const store::Filter& filter : {query, body}) {
    EXPECT_THAT(filter.states, ElementsAre(task::State::kDead, task::State::kFailed));
    EXPECT_THAT(filter.kinds, ElementsAre(task::Kind("mail")));
    EXPECT_EQ(filter.tenant, task::Tenant("t"));
    EXPECT_EQ(filter.unique_key, task::UniqueKey("u"));
    EXPECT_EQ(filter.search_key, std::pair(std::string("order"), std::string("o-1")));
  }
  EXPECT_EQ(query.created_from, body.created_from);
  EXPECT_EQ(query.created_before, body.created_before);
  EXPECT_TRUE(query.created_from && query.created_before);
}

TEST_F(TaskFilterTest, ACallerOfOneTenantMeansThatOneAndMayNameNoOther) {
  caller_.tenant = task::Tenant("mine");
  EXPECT_EQ(from(Query{}).tenant, caller_.tenant);
  EXPECT_EQ(from("{}").tenant, caller_.tenant);
  EXPECT_EQ(from(Query{{"tenant", "mine"}}).tenant, caller_.tenant);
  EXPECT_TRUE(errors_.empty());
  EXPECT_EQ(from(Query{{"tenant", "other"}}).tenant, caller_.tenant);
  EXPECT_EQ(errors_.size(), 1U);
  EXPECT_EQ(from(R"({"tenant":"other"})").tenant, caller_.tenant);
  EXPECT_EQ(errors_.size(), 1U);
}

TEST_F(TaskFilterTest, RefusesWhatItDoesNotUnderstand) {
  for (const Query& query : {Query{{"state", "lost"}}, Query{{"created_from", "now"}},
                             Query{{"key.a", "1"}, {"key.b", "2"}}, Query{{"kind", "a\nb"}}}) {
    (void)from(query);
    EXPECT_EQ(errors_.size(), 1U) << query.front().first;
  }
  for (const char* body :
       {R"({"state":"lost"})", R"({"keys":{"a":"1","b":"2"}})", R"({"x":1})",
        R"({"kind":"a\u0000"})", R"({"tenant":"a\n"})", R"({"keys":{"a":"\n"}})"}) {
    (void)from(body);
    EXPECT_EQ(errors_.size(), 1U) << body;
  }
}

TEST_F(TaskFilterTest, ALimitLiesWithinAPage) {
  const auto limit = [&](const char* text) {
    http::Request request;
    request.query = {{"limit", text}};
    errors_.clear();
    return read_limit(request, errors_);
  };
  EXPECT_EQ(limit("1"), 1U);
  EXPECT_EQ(limit("500"), 500U);
  EXPECT_TRUE(errors_.empty());
  for (const char* text : {"0", "501", "-1", "", "5x", "99999999999999999999"}) {
    (void)limit(text);
    EXPECT_EQ(errors_.size(), 1U) << text;
  }
}

}  // namespace
}  // namespace recourse::api
