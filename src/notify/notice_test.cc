#include "notify/notice.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/named.h"
#include "base/text.h"
#include "notify/masking.h"

namespace recourse::notify {
namespace {

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

Notice sent(const Notice& notice) { return fit_to_send(notice, Masker::make({}).value()); }

TEST(Event, EveryNameParsesBack) {
  for (const Event event : kAllEvents) EXPECT_EQ(find_named(kAllEvents, to_string(event)), event);
  for (const Severity severity : kAllSeverities) {
    EXPECT_EQ(find_named(kAllSeverities, to_string(severity)), severity);
  }
}

// NOTE-1
TEST(Event, HasTheSeverityThatWasAskedFor) {
  EXPECT_EQ(default_severity(Event::kDeadLetter), Severity::kError);
  EXPECT_EQ(default_severity(Event::kMaxRetryReached), Severity::kError);
  EXPECT_EQ(default_severity(Event::kNonRetryableFailed), Severity::kError);
  EXPECT_EQ(default_severity(Event::kTakeover), Severity::kWarning);
  EXPECT_EQ(default_severity(Event::kLeaseRenewFailed), Severity::kWarning);
  EXPECT_EQ(default_severity(Event::kPersistFailed), Severity::kError);
  EXPECT_EQ(default_severity(Event::kEngineError), Severity::kCritical);
  EXPECT_EQ(default_severity(Event::kBreakerOpened), Severity::kWarning);
  EXPECT_EQ(default_severity(Event::kBreakerClosed), Severity::kInfo);
  EXPECT_EQ(severity_of({.event = Event::kTakeover, .severity = Severity::kError}),
            Severity::kError);
}

// NOTE-2
TEST(Notice, ItsLastErrorIsMaskedThenCutOnACharacter) {
  // The secret straddles the bound: cut first, its beginning would be told.
  std::string error;
  for (int i = 0; i < 3'985; ++i) error += "\xC3\xA4";
  error += " password=hunter2hunter2hunter2";

  const Notice fit = sent({.last_error = error});

  EXPECT_EQ(count_characters(fit.last_error), 3'985 + std::string_view(" password=***").size());
  EXPECT_EQ(fit.last_error.find("hunter"), std::string::npos);
  EXPECT_EQ(count_characters(sent({.last_error = error + error}).last_error), kErrorCharactersMax);
}

TEST(Notice, SecretsAmongItsAttributesAreMaskedByTheirName) {
  const Notice fit = sent({.attributes = {{"api_key", "k-123"}, {"shard", "7"}}});

  EXPECT_EQ(fit.attributes.at("api_key"), "***");
  EXPECT_EQ(fit.attributes.at("shard"), "7");
}

// One in ten long numbers looks like a card's: a message id, a row's.
TEST(Notice, AnIdReachesThePersonWhole) {
  const std::string number = "4111111111111111";
  const Notice fit = sent({.last_error = "no order " + number,
                           .attributes = {{"key message_id", number},
                                          {"key card", number},
                                          {"key api_key", number},
                                          {"key url", "redis://u:hunter2@host/" + number},
                                          {"note", number}},
                           .ids = {"key message_id", "key card", "key api_key", "key url"}});

  EXPECT_EQ(fit.attributes.at("key message_id"), number);
  EXPECT_EQ(fit.attributes.at("key card"), "***1111") << "its name says what it is";
  EXPECT_EQ(fit.attributes.at("key api_key"), "***");
  EXPECT_EQ(fit.attributes.at("key url"), "redis://u:***@host/" + number);
  EXPECT_EQ(fit.attributes.at("note"), "***1111");
  EXPECT_EQ(fit.last_error, "no order ***1111");
}

TEST(Notice, PatternsOfTheUserMaskIdsToo) {
  const Masker masker = Masker::make({.patterns = {R"(acct-\d+)"}}).value();

  const Notice fit =
      fit_to_send({.attributes = {{"key account", "acct-17"}}, .ids = {"key account"}}, masker);

  EXPECT_EQ(fit.attributes.at("key account"), "***");
}

TEST(Notice, KnowsNoIdsOfAttributesThatItDropped) {
  Notice notice;
  for (std::size_t i = 0; i <= kAttributesMax; ++i) {
    notice.attributes.emplace(std::to_string(100 + i), "x");
    notice.ids.insert(std::to_string(100 + i));
  }

  bound(notice);

  EXPECT_EQ(notice.attributes.size(), kAttributesMax);
  EXPECT_EQ(notice.ids.size(), kAttributesMax);
}

TEST(Notice, ALinkThatIsNoneIsLeftOut) {
  EXPECT_EQ(sent({.link = "https://recourse.example/tasks/tsk_1"}).link,
            "https://recourse.example/tasks/tsk_1");
  for (const char* link :
       {"javascript:alert(1)", "https://a\"b", "https://a b", "https://a\r\nb", "<x>"}) {
    EXPECT_EQ(sent({.link = link}).link, "") << link;
  }
}

RC_GTEST_PROP(Notice, IsFitToBeSentWhateverItWasMadeOf,
              (const std::string& error, const std::string& name,
               const std::map<std::string, std::string>& attributes)) {
  const Notice fit = sent({.id = name,
                           .node = name,
                           .kind = task::Kind(name),
                           .tenant = task::Tenant(name),
                           .reason = error,
                           .last_error = error,
                           .attributes = attributes,
                           .link = error});

  RC_ASSERT(count_characters(fit.last_error) <= kErrorCharactersMax);
  RC_ASSERT(clean_text(fit.last_error, kErrorCharactersMax) == fit.last_error);
  RC_ASSERT(fit.attributes.size() <= kAttributesMax);
  for (const std::string& text : {fit.id, fit.node, fit.kind.value, fit.tenant.value, fit.reason}) {
    RC_ASSERT(is_plain_text(text));
  }
  for (const auto& [key, value] : fit.attributes)
    RC_ASSERT(is_plain_text(key) && is_plain_text(value));
}

}  // namespace
}  // namespace recourse::notify
