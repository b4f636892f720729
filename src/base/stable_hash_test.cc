#include "base/stable_hash.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <string>

namespace recourse {
namespace {

std::string hex(std::string_view text) {
  return fmt::format("{:02x}", fmt::join(stable_hash(text), ""));
}

// The published values of FNV-1a: whatever was derived from the hash must be found again by every
// later version.
TEST(StableHash, IsFnv1a) {
  EXPECT_EQ(hex(""), "6c62272e07bb014262b821756295c58d");
  EXPECT_EQ(hex("a"), "d228cb696f1a8caf78912b704e4a8964");
  EXPECT_EQ(hex("foobar"), "343e1662793c64bf6f0d3597ba446f18");
}

}  // namespace
}  // namespace recourse
