#include "task/ticket_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace recourse::task {
namespace {

constexpr std::string_view kExample = "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV~7~01BX5ZZKBKACTAV9WEVGEMMVRZ";

TEST(TicketText, IsSpelledAsTheHeaderHasIt) {
  const NamedTicket ticket{
      .task = TaskId(parse_ulid("01ARZ3NDEKTSV4RRFFQ69G5FAV").value()),
      .ticket = {.fence = Fence(7),
                 .lease = LeaseId(parse_ulid("01BX5ZZKBKACTAV9WEVGEMMVRZ").value())}};

  EXPECT_EQ(to_string(ticket), kExample);
  EXPECT_EQ(parse_ticket("ticket", kExample).value(), ticket);
}

RC_GTEST_PROP(TicketTextProperty, ParsesBack, ()) {
  const auto some_ulid = [] {
    Ulid id;
    for (auto& byte : id.bytes) byte = *rc::gen::arbitrary<std::uint8_t>();
    return id;
  };
  const NamedTicket ticket{.task = TaskId(some_ulid()),
                           .ticket = {.fence = Fence(*rc::gen::inRange<std::int64_t>(
                                          0, std::numeric_limits<std::int64_t>::max())),
                                      .lease = LeaseId(some_ulid())}};

  RC_ASSERT(parse_ticket("ticket", to_string(ticket)).value() == ticket);
}

TEST(TicketText, EveryOtherSpellingIsRefusedByName) {
  for (const char* text :
       {"", "~~", "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV", "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV~7",
        "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV~~01BX5ZZKBKACTAV9WEVGEMMVRZ",
        "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV~07~01BX5ZZKBKACTAV9WEVGEMMVRZ",
        "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV~+7~01BX5ZZKBKACTAV9WEVGEMMVRZ",
        "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV~-7~01BX5ZZKBKACTAV9WEVGEMMVRZ",
        "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV~99999999999999999999~01BX5ZZKBKACTAV9WEVGEMMVRZ",
        "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV~7~01BX5ZZKBKACTAV9WEVGEMMVR",
        "tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV~7~01BX5ZZKBKACTAV9WEVGEMMVRZ~",
        "nod_01ARZ3NDEKTSV4RRFFQ69G5FAV~7~01BX5ZZKBKACTAV9WEVGEMMVRZ",
        " tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV~7~01BX5ZZKBKACTAV9WEVGEMMVRZ"}) {
    const auto ticket = parse_ticket("ticket", text);
    ASSERT_FALSE(ticket) << text;
    EXPECT_EQ(ticket.error().code, ErrorCode::kInvalid);
    EXPECT_NE(ticket.error().message.find("ticket"), std::string::npos) << ticket.error().message;
  }
}

}  // namespace
}  // namespace recourse::task
