#include "create/creator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace recourse::create {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

Request request() {
  return {.tenant = 7,
          .business_type = "ORDER_CREATE",
          .resource_type = "ord",
          .key = "k-1",
          .request_hash = std::string(64, 'A')};
}

std::string complaint(const Request& asked) {
  const Result<> valid = check(asked);
  return valid ? "none" : valid.error().message;
}

// IDEM-1
TEST(CreateRequest, BadInputIsRefusedByFieldName) {
  EXPECT_EQ(complaint(request()), "none");
  Request bad = request();
  bad.tenant = 0;
  EXPECT_THAT(complaint(bad), HasSubstr("create.tenant must be a positive number, not 0"));
  bad.tenant = -3;
  bad.request_hash.pop_back();
  bad.wait_max = -1s;
  EXPECT_THAT(complaint(bad), AllOf(HasSubstr("create.tenant"), HasSubstr("create.request_hash"),
                                    HasSubstr("create.wait_max")));
  bad = request();
  bad.wait_for_completion = true;
  EXPECT_THAT(complaint(bad), HasSubstr("create.wait_max"));
}

// IDEM-1
TEST(CreateRequest, TheDefaultsAreThoseOfTheSource) {
  const Request plain;
  EXPECT_EQ(plain.ttl, 24h);
  EXPECT_EQ(plain.lock_ttl, 30s);
  EXPECT_EQ(plain.mode, Mode::kRequiresNew);
  EXPECT_FALSE(plain.wait_for_completion);
}

}  // namespace
}  // namespace recourse::create
