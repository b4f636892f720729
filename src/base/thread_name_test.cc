#include "base/thread_name.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <string>
#include <thread>

namespace recourse {
namespace {

std::string name_after(const std::string& given) {
  std::array<char, 16> name{};
  std::thread([&] {
    name_this_thread(given);
    pthread_getname_np(pthread_self(), name.data(), name.size());
  }).join();
  return name.data();
}

TEST(ThreadName, IsTheOneGiven) { EXPECT_EQ(name_after("http-server"), "http-server"); }

TEST(ThreadName, IsCutWhereTheSystemTakesNoMore) {
  EXPECT_EQ(name_after("a-name-of-20-letters"), "a-name-of-20-le");
}

}  // namespace
}  // namespace recourse
