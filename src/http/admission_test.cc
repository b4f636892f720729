#include "http/admission.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace recourse::http {
namespace {

using namespace std::chrono_literals;

constexpr Admission::Time kStart{};

std::vector<CallId> all_that_may_go(Admission& admission, Admission::Time now = kStart) {
  std::vector<CallId> calls;
  while (const auto call = admission.next(now)) calls.push_back(*call);
  return calls;
}

TEST(Admission, ToOneHostOnlySoManyGoAtOnceInTheirOrder) {
  Admission admission(10, 2, 50s);
  for (const CallId call : {1U, 2U, 3U, 4U}) admission.arrive(call, "a", false);

  EXPECT_EQ(all_that_may_go(admission), (std::vector<CallId>{1, 2}));
  admission.leave(1);
  EXPECT_EQ(all_that_may_go(admission), (std::vector<CallId>{3}));
  EXPECT_EQ(admission.waiting(), 1U);
}

TEST(Admission, HostsTakeTurnsBelowTheCommonBound) {
  Admission admission(4, 4, 50s);
  for (const CallId call : {1U, 2U, 3U, 4U}) admission.arrive(call, "a", false);
  for (const CallId call : {5U, 6U}) admission.arrive(call, "b", false);

  EXPECT_EQ(all_that_may_go(admission), (std::vector<CallId>{1, 5, 2, 6}));
}

TEST(Admission, WhileANameIsLookedUpTheOthersWait) {
  Admission admission(10, 10, 50s);
  for (const CallId call : {1U, 2U, 3U}) admission.arrive(call, "name", true);
  ASSERT_EQ(all_that_may_go(admission), (std::vector<CallId>{1}));

  admission.found_address(1, kStart + 1s);

  EXPECT_EQ(all_that_may_go(admission, kStart + 1s), (std::vector<CallId>{2, 3}));
}

TEST(Admission, WhatIsKnownIsForgottenAfterItsTime) {
  Admission admission(10, 10, 50s);
  admission.arrive(1, "name", true);
  ASSERT_EQ(all_that_may_go(admission), (std::vector<CallId>{1}));
  admission.found_address(1, kStart);
  for (const CallId call : {2U, 3U}) admission.arrive(call, "name", true);

  EXPECT_EQ(all_that_may_go(admission, kStart + 50s), (std::vector<CallId>{2}));
}

TEST(Admission, AScoutThatFoundAnOpenConnectionTellsNothingOfTheName) {
  Admission admission(10, 10, 50s);
  for (const CallId call : {1U, 2U, 3U}) admission.arrive(call, "name", true);
  ASSERT_EQ(all_that_may_go(admission), (std::vector<CallId>{1}));

  admission.needed_no_address(1);

  EXPECT_EQ(all_that_may_go(admission), (std::vector<CallId>{2}));
}

TEST(Admission, TheNextOneScoutsWhereTheFirstGaveUp) {
  Admission admission(10, 10, 50s);
  for (const CallId call : {1U, 2U, 3U}) admission.arrive(call, "name", true);
  ASSERT_EQ(all_that_may_go(admission), (std::vector<CallId>{1}));

  admission.leave(1);

  EXPECT_EQ(all_that_may_go(admission), (std::vector<CallId>{2}));
}

TEST(Admission, WhoWaitsForANameThatIsNoneCanBeToldAtOnce) {
  Admission admission(10, 10, 50s);
  for (const CallId call : {1U, 2U, 3U}) admission.arrive(call, "name", true);
  admission.arrive(4, "other", true);
  ASSERT_EQ(all_that_may_go(admission), (std::vector<CallId>{1, 4}));

  EXPECT_EQ(admission.take_waiting_with(1), (std::vector<CallId>{2, 3}));
  EXPECT_EQ(admission.waiting(), 0U);
}

RC_GTEST_PROP(AdmissionProperty, KeepsItsBoundsAndLosesNobody, ()) {
  Admission admission(5, 3, 2s);
  std::map<CallId, std::string> arrived;
  std::map<CallId, std::string> out;
  Admission::Time now = kStart;
  CallId ids = 0;
  for (int step = *rc::gen::inRange(1, 200); step > 0; --step) {
    switch (*rc::gen::inRange(0, 4)) {
      case 0: {
        const std::string host(1, *rc::gen::element('a', 'b', 'c'));
        arrived[++ids] = host;
        admission.arrive(ids, host, host != "a");
        break;
      }
      case 1: now += 1s; break;
      case 2:
        if (!out.empty()) admission.found_address((*rc::gen::elementOf(out)).first, now);
        break;
      default:
        if (!arrived.empty()) {
          const CallId gone = (*rc::gen::elementOf(arrived)).first;
          admission.leave(gone);
          arrived.erase(gone);
          out.erase(gone);
        }
    }
    while (const auto call = admission.next(now)) {
      RC_ASSERT(arrived.contains(*call));
      RC_ASSERT(out.emplace(*call, arrived[*call]).second);
    }
    RC_ASSERT(out.size() <= 5U);
    for (const char* host : {"a", "b", "c"}) {
      RC_ASSERT(std::ranges::count_if(out, [&](auto& one) { return one.second == host; }) <= 3);
    }
    RC_ASSERT(admission.waiting() + out.size() == arrived.size());
  }
  // Nobody waits for ever once those before it leave.
  while (!arrived.empty()) {
    RC_ASSERT(!out.empty());
    const CallId gone = out.begin()->first;
    admission.leave(gone);
    arrived.erase(gone);
    out.erase(gone);
    while (const auto call = admission.next(now)) out.emplace(*call, arrived[*call]);
  }
}

}  // namespace
}  // namespace recourse::http
