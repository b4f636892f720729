#include "cli/payload.h"

#include <gtest/gtest.h>

#include <sstream>

namespace recourse::cli {
namespace {

TEST(Payload, StandsRawWhereItIsJsonSoThatNoNumberChanges) {
  EXPECT_EQ(payload_member(R"({"n":1.10, "big":12345678901234567890123})"),
            R"("payload":{"n":1.10, "big":12345678901234567890123})");
  EXPECT_EQ(payload_member("null"), "\"payload\":null");
}

TEST(Payload, GoesAsBase64WhereItIsNotJsonOrHasSpaceAroundIt) {
  EXPECT_EQ(payload_member("hello"), "\"payload_base64\":\"aGVsbG8=\"");
  EXPECT_EQ(payload_member("{}\n"), "\"payload_base64\":\"e30K\"");
  EXPECT_EQ(payload_member(" {}"), "\"payload_base64\":\"IHt9\"");
  EXPECT_EQ(payload_member(""), "\"payload_base64\":\"\"");
  // Two values would end the member and begin another.
  EXPECT_EQ(payload_member(R"(1,"kind":"other")").substr(0, 16), "\"payload_base64\"");
}

TEST(Payload, GoesAsBase64WhereTheServerWouldFindItTooDeep) {
  const std::string deep = std::string(32, '[') + std::string(32, ']');
  EXPECT_EQ(payload_member(deep).substr(0, 16), "\"payload_base64\"");
  const std::string fits = std::string(31, '[') + std::string(31, ']');
  EXPECT_EQ(payload_member(fits), "\"payload\":" + fits);
}

TEST(Payload, ReadsStandardInputByteForByte) {
  std::istringstream in(" a\nb\n");
  EXPECT_EQ(*read_payload({.file = "-"}, in), " a\nb\n");
}

TEST(Payload, RefusesTwoSourcesAndAFileThatIsNotThere) {
  std::istringstream in;
  EXPECT_EQ(read_payload({.text = "{}", .file = "-"}, in).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(read_payload({.file = "/nowhere/at/all"}, in).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace recourse::cli
