#include "message/outstanding.h"

#include <gtest/gtest.h>

#include "message/message.h"

namespace recourse::message {
namespace {

TEST(Outstanding, ATicketTakesOneVerdict) {
  Outstanding<int> out;
  const Ticket ticket = out.add(7);

  EXPECT_EQ(out.take(ticket), 7);
  EXPECT_EQ(out.take(ticket), std::nullopt);
}

TEST(Outstanding, WhatWasForgottenIsNotTakenForAnother) {
  Outstanding<int> out;
  const Ticket before = out.add(1);

  EXPECT_EQ(out.clear(), 1U);
  const Ticket after = out.add(1);

  EXPECT_EQ(out.take(before), std::nullopt);
  EXPECT_EQ(out.take(after), 1);
}

TEST(BodyHashId, IsTheSameForTheSameBytesEverywhere) {
  EXPECT_EQ(body_hash_id(""), "body-6c62272e07bb014262b821756295c58d");
  EXPECT_NE(body_hash_id("a"), body_hash_id("b"));
}

}  // namespace
}  // namespace recourse::message
