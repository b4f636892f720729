#include "notify/channels/mail_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/text.h"
#include "http/base64.h"
#include "notify/channels/http_fixture.h"
#include "notify/masking.h"

namespace recourse::notify {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

const MailParties kParties{.from = {"Recourse", "recourse@example.org"},
                           .to = {{"", "ops@example.org"}, {"J\u00E4ne, D.", "jane@example.org"}}};
constexpr TimePoint kMailedAt{1'700'000'000s};

std::string head_of(const std::string& mail) { return mail.substr(0, mail.find("\r\n\r\n")); }

TEST(MailMessage, HasTheHeadersThatMailNeeds) {
  const std::string head = head_of(mail_of(full_notice(), kParties, kMailedAt));

  EXPECT_THAT(head, HasSubstr("Date: Tue, 14 Nov 2023 22:13:20 +0000\r\n"));
  EXPECT_THAT(head, HasSubstr("From: Recourse <recourse@example.org>\r\n"));
  EXPECT_THAT(head, HasSubstr("To: ops@example.org,\r\n =?UTF-8?B?"));
  EXPECT_THAT(head, HasSubstr("Subject: Recourse [error] Reminder 2: Retries used up: grant-points "
                              "(and 412 more)\r\n"));
  EXPECT_THAT(head, HasSubstr("Content-Type: multipart/alternative;\r\n boundary="));
}

TEST(MailMessage, IsTheSameMailWhenItIsSentAgain) {
  const auto id = [](std::string notice) {
    return message_id({.id = std::move(notice)}, kParties.from);
  };
  EXPECT_EQ(id("ntc_1"), id("ntc_1"));
  EXPECT_NE(id("ntc_1"), id("ntc_2"));
  EXPECT_THAT(id("x\r\ny> z"), testing::MatchesRegex("<[0-9a-f]+@example.org>"));
}

TEST(MailMessage, ItsHtmlHoldsNothingOfATasksMaking) {
  const std::string html = html_body(full_notice());

  EXPECT_THAT(html, HasSubstr("line 1 &lt;b&gt;"));
  EXPECT_THAT(html, Not(HasSubstr("<!channel>")));
  EXPECT_THAT(
      html,
      HasSubstr(
          "href=\"https://recourse.example/tasks/tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV?a=1&amp;b=2\""));
}

TEST(MailMessage, LongSubjectsAreWordsOfTheirOwn) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "\u5931\u8D25";
  const std::string words = encoded_text(text);
  std::string decoded;
  std::string_view rest = words;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find("\r\n "));
    EXPECT_LE(word.size(), 75U);
    decoded += http::from_base64(word.substr(10, word.size() - 12)).value();
    EXPECT_TRUE(is_plain_text(decoded)) << "a word ends inside a character";
    rest.remove_prefix(std::min(rest.size(), word.size() + 3));
  }
  EXPECT_EQ(decoded, text);
}

TEST(MailMessage, AddressesAreReadWithAndWithoutAName) {
  EXPECT_EQ(parse_mailbox("to", "a@b.c").value().address, "a@b.c");
  const Mailbox named = parse_mailbox("to", "\"Ops, all\" <ops@b.c>").value();
  EXPECT_EQ(named.name, "Ops, all");
  EXPECT_EQ(named.address, "ops@b.c");
  for (const char* text : {"", "a", "@b", "a@", "a b@c", "a@b\r\nBcc: x@y.z", "x <a@b", "<>",
                           "a@b>", "a@b@c", "x\r\ny <a@b.c>", "a@b,c@d"}) {
    EXPECT_FALSE(parse_mailbox("to", text)) << text;
  }
}

// Whatever a task says: the head keeps its lines, and every line is short and plain.
RC_GTEST_PROP(MailMessage, NoHeaderCanBeInjected,
              (const std::string& kind, const std::string& error, const std::string& id)) {
  const Notice notice = fit_to_send({.id = id + "\r\nBcc: evil@example.org",
                                     .kind = task::Kind(kind + "\r\nBcc: evil@example.org"),
                                     .last_error = error},
                                    Masker::make({}).value());

  const std::string mail = mail_of(notice, kParties, kMailedAt);

  RC_ASSERT(head_of(mail).find("\nBcc") == std::string::npos);
  for (std::string_view rest = mail; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find("\r\n"));
    RC_ASSERT(line.size() < 990 && is_plain_text(line) && !line.starts_with('.'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 2));
  }
}

}  // namespace
}  // namespace recourse::notify
