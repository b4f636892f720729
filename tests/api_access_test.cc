// Tokens, the gate and replays, on a store in memory.
#include "api/gate.h"
#include "api/replay.h"
#include "api/token_secret.h"
#include "api/tokens.h"
#include "tests/api_fixture.h"

namespace recourse::api {
namespace {

class TokensTest : public OnAMemoryStore {
 protected:
  Tokens tokens_{opened_->records(),
                 ids_,
                 clock_,
                 {{{.name = "ops", .role = Role::kAdmin}, sha256_of("a secret of sixteen")}}};
};

TEST_F(TokensTest, AreKnownByTheirSecretUntilTheyAreTakenAway) {
  const auto made = tokens_.create(
      {.name = "ci", .role = Role::kOperator, .tenant = task::Tenant("t")}, {}, "ops");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->secret.size(), 4U + 64U);
  const auto who = tokens_.identify(made->secret);
  ASSERT_TRUE(who && *who);
  EXPECT_EQ((*who)->name, "ci");
  EXPECT_EQ((*who)->role, Role::kOperator);
  EXPECT_EQ((*who)->tenant, task::Tenant("t"));
  ASSERT_EQ(tokens_.list()->size(), 1U);
  EXPECT_EQ(tokens_.list()->front().created_by, "ops");
  EXPECT_TRUE(tokens_.revoke(made->view.id, "ops"));
  EXPECT_EQ(*tokens_.identify(made->secret), std::nullopt);
  EXPECT_EQ(tokens_.revoke(made->view.id, "ops").error().code, ErrorCode::kNotFound);
}

TEST_F(TokensTest, AreKeptAsTheirHashOnly) {
  const auto made = tokens_.create({.name = "ci", .role = Role::kViewer}, {}, "ops");
  const auto page = opened_->records().list("token", std::nullopt, 10, 1s);
  ASSERT_EQ(page->records.size(), 1U);
  EXPECT_EQ(page->records.front().name, sha256_of(made->secret));
  EXPECT_EQ(page->records.front().value.find(made->secret.substr(4)), std::string::npos);
}

TEST_F(TokensTest, AreForgottenWhenTheyExpireOrAnotherNodeTakesThemAway) {
  const auto made = tokens_.create({.name = "ci", .role = Role::kViewer}, 1min, "ops");
  EXPECT_EQ(made->view.expires_at, clock_.now() + 1min);
  EXPECT_TRUE(*tokens_.identify(made->secret));
  // It is asked again after a few seconds.
  EXPECT_TRUE(tokens_.recall(made->secret));
  clock_.advance(6s);
  EXPECT_FALSE(tokens_.recall(made->secret));
  Tokens elsewhere(opened_->records(), ids_, clock_, {});
  ASSERT_TRUE(elsewhere.revoke(made->view.id, "ops"));
  EXPECT_EQ(*tokens_.identify(made->secret), std::nullopt);
  const auto short_lived = tokens_.create({.name = "x", .role = Role::kViewer}, 1min, "ops");
  clock_.advance(2min);
  EXPECT_EQ(*tokens_.identify(short_lived->secret), std::nullopt);
}

TEST_F(TokensTest, OfTheConfigurationNeedNoStore) {
  const auto known = tokens_.recall("a secret of sixteen");
  ASSERT_TRUE(known && *known);
  EXPECT_EQ((*known)->name, "ops");
  EXPECT_TRUE(*tokens_.any());
  Tokens none(opened_->records(), ids_, clock_, {});
  EXPECT_FALSE(*none.any());
}

class GateTest : public TokensTest {
 protected:
  static http::Request request(http::Headers headers, http::Method method = http::Method::kPost) {
    return {.method = method, .headers = std::move(headers), .peer = "10.0.0.1"};
  }
  static int status_of(const std::variant<Identity, Problem>& who) {
    const auto* problem = std::get_if<Problem>(&who);
    return problem == nullptr ? 200 : problem->status;
  }

  Gate gate_{{.token_required = true, .hosts = {"localhost", "[::1]"}}, tokens_, clock_};
};

TEST_F(GateTest, AnswersToItsOwnNamesOnly) {
  EXPECT_FALSE(gate_.refuse_early(request({{"Host", "localhost:7070"}})));
  EXPECT_FALSE(gate_.refuse_early(request({{"Host", "[::1]:7070"}})));
  EXPECT_EQ(gate_.refuse_early(request({{"Host", "evil.example"}}))->status, 421);
  EXPECT_EQ(gate_.refuse_early(request({}))->status, 421);
}

TEST_F(GateTest, TakesNoChangesFromOtherSitesPages) {
  for (const char* site : {"cross-site", "same-site"}) {
    EXPECT_EQ(
        gate_.refuse_early(request({{"Host", "localhost"}, {"Sec-Fetch-Site", site}}))->status,
        403);
    EXPECT_FALSE(gate_.refuse_early(
        request({{"Host", "localhost"}, {"Sec-Fetch-Site", site}}, http::Method::kGet)));
  }
  EXPECT_FALSE(
      gate_.refuse_early(request({{"Host", "localhost"}, {"Sec-Fetch-Site", "same-origin"}})));
}

TEST_F(GateTest, AsksOlderBrowsersWhereAPageIsFrom) {
  const auto from = [&](const char* origin) {
    return gate_.refuse_early(request({{"Host", "localhost:7070"}, {"Origin", origin}}))
        .has_value();
  };
  EXPECT_FALSE(from("http://localhost:7070"));
  EXPECT_TRUE(from("http://localhost:8080"));
  EXPECT_TRUE(from("https://evil.example"));
  EXPECT_TRUE(from("null"));
}

TEST_F(GateTest, AsksForATokenAndARole) {
  const auto made = tokens_.create({.name = "v", .role = Role::kViewer}, {}, "ops");
  const http::Request shown = request({{"Authorization", "Bearer " + made->secret}});
  EXPECT_EQ(status_of(gate_.identify(request({}), Role::kViewer)), 401);
  EXPECT_EQ(status_of(gate_.identify(request({}), Role::kNone)), 200);
  EXPECT_FALSE(gate_.identify_at_once(shown, Role::kViewer)) << "the store has to be asked first";
  EXPECT_EQ(status_of(gate_.identify(shown, Role::kViewer)), 200);
  EXPECT_EQ(status_of(*gate_.identify_at_once(shown, Role::kViewer)), 200);
  EXPECT_EQ(status_of(gate_.identify(shown, Role::kOperator)), 403);
  EXPECT_EQ(status_of(gate_.identify(request({{"Authorization", "Basic x"}}), Role::kViewer)), 401);
  // Whatever is shown, health needs nothing.
  EXPECT_TRUE(gate_.identify_at_once(request({{"Authorization", "Bearer rcs_x"}}), Role::kNone));
}

TEST_F(GateTest, AnAddressThatGuessesHasToWaitAndOthersDoNot) {
  const http::Request guess = request({{"Authorization", "Bearer rcs_guess"}});
  int tries = 0;
  while (status_of(gate_.identify(guess, Role::kViewer)) == 401 && tries < 1'000) ++tries;
  EXPECT_EQ(tries, 20);
  http::Request other = guess;
  other.peer = "10.0.0.2";
  EXPECT_EQ(status_of(gate_.identify(other, Role::kViewer)), 401);
  clock_.advance(5s);
  EXPECT_EQ(status_of(gate_.identify(guess, Role::kViewer)), 401);
  EXPECT_EQ(status_of(gate_.identify(guess, Role::kViewer)), 429);
}

TEST_F(GateTest, WithoutTokensWhoeverComesIsItsAdmin) {
  Gate open({.token_required = false, .hosts = {}}, tokens_, clock_);
  const auto who = open.identify(request({}), Role::kAdmin);
  ASSERT_TRUE(std::holds_alternative<Identity>(who));
  EXPECT_EQ(std::get<Identity>(who).name, "local");
  EXPECT_EQ(status_of(open.identify(request({{"Authorization", "Bearer rcs_x"}}), Role::kViewer)),
            401);
}

class ReplayTest : public OnAMemoryStore {
 protected:
  Result<store::CreateAsk> key(const std::string& header, const std::string& body = "{}",
                               const std::optional<task::Tenant>& tenant = std::nullopt) {
    return read_replay_key({.request = {.headers = {{"Idempotency-Key", header}}, .body = body},
                            .parameters = {},
                            .caller = {.name = "x", .role = Role::kOperator, .tenant = tenant}},
                           id());
  }
  task::TaskId id() { return task::TaskId(ids_.next()); }
};

TEST_F(ReplayTest, AKeyMayBeQuoted) {
  EXPECT_EQ(key("\"a\"")->key, key("a")->key);
  EXPECT_NE(key("a")->key, key("b")->key);
  EXPECT_NE(key("a")->key, key("a", "{}", task::Tenant("t"))->key);
  EXPECT_NE(key("a")->hash, key("a", "{ }")->hash);
  for (const std::string& bad :
       {std::string(), std::string("\"\""), std::string("a\nb"), std::string(256, 'x')}) {
    EXPECT_FALSE(key(bad)) << bad;
  }
}

// IDEM-9
TEST_F(ReplayTest, StandsForTheFirstTaskForADay) {
  const auto first = opened_->creates().acquire(*key("a"), 1s);
  ASSERT_TRUE(first);
  const auto again = opened_->creates().acquire(*key("a"), 1s);
  EXPECT_EQ(again->how, store::Acquisition::kInProgress);
  const Replayed answered{.task = id(), .is_taken = true};
  EXPECT_TRUE(*opened_->creates().succeed(store::hold_of(first->creation), to_value(answered), 1s));
  const auto replayed = opened_->creates().acquire(*key("a"), 1s);
  EXPECT_EQ(replayed->how, store::Acquisition::kReplayed);
  const auto read = read_replayed(replayed->creation.value);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->task, answered.task);
  EXPECT_TRUE(read->is_taken);
  EXPECT_EQ(opened_->creates().acquire(*key("a", "other"), 1s).error().code, ErrorCode::kConflict);
  clock_.advance(25h);
  EXPECT_EQ(opened_->creates().acquire(*key("a", "other"), 1s)->how, store::Acquisition::kAcquired);
  EXPECT_EQ(read_replayed("nonsense").error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace recourse::api
