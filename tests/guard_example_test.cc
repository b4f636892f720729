// The source's user_bill service, whole, as its program.
#include <cstdlib>

#include "tests/guard_fixture.h"

namespace recourse::tests {
namespace {

class GuardExample : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Stores, GuardExample, kGuardStores, guard_store_name);

TEST_P(GuardExample, TellsItsStory) {
  const Place place(GetParam());

  const std::string command = std::string(USER_BILL) + " '" + place.url() + "'";

  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

}  // namespace
}  // namespace recourse::tests
