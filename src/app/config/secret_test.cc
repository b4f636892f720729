#include "app/config/secret.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <ostream>

namespace recourse::app {
namespace {

using testing::HasSubstr;
using testing::Not;

template <class T>
concept Printable = requires(std::ostream& out, const T& value) { out << value; };
static_assert(!Printable<Secret>, "a secret cannot get into a log by accident");

class SecretFile {
 public:
  explicit SecretFile(const std::string& content)
      : path_(testing::TempDir() + "recourse_secret_" +
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::ofstream(path_) << content;
  }
  ~SecretFile() { std::filesystem::remove(path_); }
  SecretFile(const SecretFile&) = delete;
  SecretFile& operator=(const SecretFile&) = delete;

  [[nodiscard]] std::string reference() const { return "file:" + path_; }

 private:
  std::string path_;
};

TEST(Secret, ComesFromAVariable) {
  const Result<Secret> secret = resolve("env:TOKEN", {{"TOKEN", "hush"}});

  EXPECT_EQ(secret.value().reveal(), "hush");
  EXPECT_EQ(secret.value().reference(), "env:TOKEN");
  EXPECT_EQ(to_string(secret.value()), "***");
}

TEST(Secret, ComesFromAFileWithoutTheLineEnd) {
  const SecretFile file("hush\r\n");

  EXPECT_EQ(resolve(file.reference(), {}).value().reveal(), "hush");
}

TEST(Secret, WhatIsMissingIsNamed) {
  EXPECT_EQ(resolve("env:TOKEN", {}).error().message,
            "the environment variable \"TOKEN\" is not set");
  EXPECT_EQ(resolve("file:/nowhere/at/all", {}).error().message,
            "cannot read the file \"/nowhere/at/all\"");
  EXPECT_THAT(resolve("file:" + testing::TempDir(), {}).error().message,
              HasSubstr("cannot read the file"));
}

TEST(Secret, AnEmptyOneIsNone) {
  const SecretFile file("\n");

  EXPECT_THAT(resolve(file.reference(), {}).error().message, HasSubstr("is empty"));
  EXPECT_THAT(resolve("env:TOKEN", {{"TOKEN", ""}}).error().message, HasSubstr("is empty"));
}

TEST(Secret, AFileThatIsTooLargeIsRefusedAndNotShown) {
  const SecretFile file(std::string(kSecretBytesMax + 1, 'x'));

  const std::string message = resolve(file.reference(), {}).error().message;

  EXPECT_THAT(message, HasSubstr("more than 65536 bytes"));
  EXPECT_THAT(message, Not(HasSubstr("xxx")));
}

TEST(Secret, OnlyTheTwoWaysAreReferences) {
  EXPECT_TRUE(is_reference("env:A"));
  EXPECT_TRUE(is_reference("file:a"));
  for (const std::string_view other : {"", "env:", "file:", "hush", "ENV:A", "vault:a"}) {
    EXPECT_FALSE(is_reference(other)) << other;
  }
}

}  // namespace
}  // namespace recourse::app
