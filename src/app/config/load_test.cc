#include "app/config/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "app/config/load_driver.h"

namespace recourse::app {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr const char* kToken = "a-token-of-some-length";

TEST(LoadConfig, NothingGivenIsAWholeConfiguration) {
  const Config config = config_of("");

  EXPECT_EQ(config.server.http.listen, "127.0.0.1:7070");
  EXPECT_EQ(config.store.url.reveal(), "sqlite:recourse.db");
  EXPECT_EQ(config.auth.required, AuthRequired::kAuto);
  EXPECT_EQ(config.shutdown_limit, 30s);
  EXPECT_EQ(config.retention.standard, std::chrono::hours(24 * 7));
}

TEST(LoadConfig, FlagsWinOverTheEnvironmentAndThatOverTheFile) {
  const std::string file = "server: {threads: 2, connections: 20}\nlog: {level: debug}\n";
  const Environment environment{{"RECOURSE__SERVER__THREADS", "3"},
                                {"RECOURSE__SERVER__CONNECTIONS", "30"},
                                {"RECOURSE_OTHER", "x"},
                                {"PATH", "/bin"}};

  const Config config = config_of(file, environment, {"server.threads=4"});

  EXPECT_EQ(config.server.http.threads, 4);
  EXPECT_EQ(config.server.http.connections_max, 30U);
  EXPECT_EQ(config.log.level, LogLevel::kDebug);
}

TEST(LoadConfig, TheEnvironmentReachesKeysWithDashesAndNamedThings) {
  const std::string file =
      "kinds:\n  order.Paid: {url: 'http://a/', max-retries: 1}\n"
      "auth: {tokens: [{name: ops, secret: 'env:T'}]}\n";
  const Environment environment{{"T", kToken},
                                {"RECOURSE__RETRY__STICK__LEASE_TTL", "12s"},
                                {"RECOURSE__KINDS__ORDER_PAID__MAX_RETRIES", "9"},
                                {"RECOURSE__KINDS__NEW_ONE__URL", "http://b/"},
                                {"RECOURSE__AUTH__TOKENS__OPS__ROLE", "admin"},
                                {"RECOURSE__SERVER__TRUSTED_HOSTS", "a.example, b.example"}};

  const Config config = config_of(file, environment);

  EXPECT_EQ(config.node.lease.ttl, 12s);
  EXPECT_EQ(config.kinds.at("order.Paid").max_retries, 9);
  EXPECT_EQ(config.kinds.at("new-one").http.url, "http://b/");
  EXPECT_EQ(config.auth.tokens.at("ops").role, api::Role::kAdmin);
  EXPECT_THAT(config.server.trusted_hosts, ElementsAre("a.example", "b.example"));
}

TEST(LoadConfig, ABaseUrlEndsWithoutASlash) {
  EXPECT_EQ(config_of("server: {base-url: 'https://r.example/x//'}").server.base_url,
            "https://r.example/x")
      << "paths are put behind it";
}

TEST(LoadConfig, AFlagQuotesANameWithADot) {
  const Config config = config_of("", {}, {R"(kinds."order.paid".url=http://a/?x=1)"});

  EXPECT_EQ(config.kinds.at("order.paid").http.url, "http://a/?x=1");
}

TEST(LoadConfig, AllThatIsWrongIsSaidAtOnce) {
  const std::vector<std::string> problems = problems_of(R"(server:
  lissten: 127.0.0.1:80
  threads: many
store:
  data-dir:
log: loud
node:
  shards: 5-300
)");

  EXPECT_THAT(
      problems,
      ElementsAre(
          "recourse.yaml:2:3: error: there is no key \"server.lissten\"; did you mean "
          "`server.listen`?",
          "recourse.yaml:3:12: error: server.threads must be an integer, 1 to 64, not \"many\"; "
          "for "
          "example threads: 1",
          AllOf(HasSubstr("recourse.yaml:5:"), HasSubstr("store.data-dir has no value")),
          "recourse.yaml:6:6: error: log is a section: write its keys below it, such as log.level",
          AllOf(HasSubstr("recourse.yaml:8:11"), HasSubstr("within 0-255 such as 0-127"))));
}

TEST(LoadConfig, AKeyInTheWrongPlaceIsFoundInItsOwn) {
  EXPECT_THAT(problems_of("retry: {lease-ttl: 5s}"),
              ElementsAre(HasSubstr("did you mean `retry.stick.lease-ttl`?")));
  EXPECT_THAT(problems_of("colour: red"), ElementsAre("recourse.yaml:1:1: error: there is no key "
                                                      "\"colour\""));
  EXPECT_THAT(problems_of("kinds: {a: {url: 'http://a/', max_retries: 3}}"),
              ElementsAre(HasSubstr("did you mean `kinds.a.max-retries`?")));
}

TEST(LoadConfig, AKeyIsWrittenInOneWayOnly) {
  EXPECT_THAT(problems_of("server.threads: 2\nserver: {threads: 3}"),
              ElementsAre(HasSubstr("write each level on a line of its own")));
}

TEST(LoadConfig, NoMessageCarriesWhatATerminalWouldObey) {
  for (const char* text :
       {"\"\\e]0;x\": 1", "kinds: {\"\\e[2J\": {}}", "log: {level: \"\\e[2J\"}"}) {
    const std::vector<std::string> problems = problems_of(text);
    EXPECT_THAT(problems, SizeIs(1)) << text;
    EXPECT_THAT(problems, Each(Not(HasSubstr("\x1b")))) << text;
  }
}

TEST(LoadConfig, WhatTheEnvironmentOrAFlagGetsWrongIsNamedByIt) {
  EXPECT_THAT(problems_of("", {{"RECOURSE__SERVER__THREADS", "0"}}),
              ElementsAre(HasSubstr("environment variable RECOURSE__SERVER__THREADS: error: "
                                    "server.threads must be an integer, 1 to 64, not \"0\"")));
  EXPECT_THAT(
      problems_of("", {{"RECOURSE__SERVR__THREADS", "1"}}),
      ElementsAre(HasSubstr("RECOURSE__SERVR__THREADS: error: there is no key \"servr\"; did "
                            "you mean `server`?")));
  EXPECT_THAT(problems_of("", {}, {"log.level=loud"}),
              ElementsAre(HasSubstr("flag log.level: error: log.level must be one of debug, info, "
                                    "warning, error, not \"loud\"")));
  EXPECT_THAT(problems_of("", {}, {"log.level"}),
              ElementsAre(HasSubstr("must be section.key=value")));
  EXPECT_THAT(problems_of("", {}, {"log..level=info"}),
              ElementsAre(HasSubstr("must be section.key=value")));
}

TEST(LoadConfig, AVariableThatNobodyReadsIsToldItsRightName) {
  for (const char* name : {"RECOURSE_SERVER_LISTEN", "RECOURSE_SERVER__LISTEN"}) {
    EXPECT_THAT(problems_of("", {{name, "127.0.0.1:1"}}),
                ElementsAre(HasSubstr("did you mean RECOURSE__SERVER__LISTEN?")));
  }
  EXPECT_THAT(problems_of("", {{"RECOURSE_RETRY_STICK_LEASE_TTL", "5s"}}),
              ElementsAre(HasSubstr("warning: is not read; did you mean "
                                    "RECOURSE__RETRY__STICK__LEASE_TTL?")));
  // One that the file names is read, and others may be somebody's.
  EXPECT_THAT(problems_of("store: {url: 'env:RECOURSE_STORE_URL'}",
                          {{"RECOURSE_STORE_URL", "sqlite:a.db"}, {"RECOURSE_TOKEN", "x"}}),
              IsEmpty());
}

TEST(LoadConfig, ALiteralSecretIsRefusedWithoutBeingShown) {
  const std::vector<std::string> problems = problems_of(
      "auth: {tokens: [{name: ops, secret: super-hush-hush-hush}]}\n"
      "store: {url: 'postgres://u:super-hush@h/d'}\n"
      "kinds: {a: {url: 'https://u:super-hush@h/', signing: [super-hush],"
      " secret-headers: {X: super-hush}, headers: {Authorization: super-hush}}}\n",
      {}, {"auth.tokens.two.secret=super-hush"});

  EXPECT_THAT(problems, SizeIs(7));
  EXPECT_THAT(problems, Each(Not(HasSubstr("hush"))));
  EXPECT_THAT(problems,
              Contains(HasSubstr("auth.tokens.ops.secret must be env:NAME or file:PATH")));
  EXPECT_THAT(problems, Contains(HasSubstr("store.url has a password in it; write env:NAME")));
}

TEST(LoadConfig, AMissingSecretIsNamed) {
  EXPECT_THAT(
      problems_of("auth: {tokens: [{name: ops, secret: 'env:OPS'}]}"),
      ElementsAre(HasSubstr("recourse.yaml:1:37: error: auth.tokens.ops.secret names a secret "
                            "that is not there: the environment variable \"OPS\" is not "
                            "set")));
  EXPECT_THAT(problems_of("auth: {tokens: [{name: ops, secret: 'env:OPS'}]}", {{"OPS", "short"}}),
              ElementsAre(AllOf(HasSubstr("at least 16 bytes"), Not(HasSubstr("short")))));
}

TEST(LoadConfig, AStoreUrlWithAPasswordMayComeFromTheEnvironment) {
  const Config direct = config_of("", {{"RECOURSE__STORE__URL", "postgres://u:hush@h/d"}});
  const Config named = config_of("store: {url: 'env:DB'}", {{"DB", "postgres://u:hush@h/d"}});

  EXPECT_EQ(direct.store.url.reveal(), "postgres://u:hush@h/d");
  EXPECT_EQ(direct.store.url.reference(), "***");
  EXPECT_EQ(named.store.url.reveal(), "postgres://u:hush@h/d");
  EXPECT_EQ(named.store.url.reference(), "env:DB");
}

TEST(LoadConfig, AStoreUrlNamesAStoreThatThereIs) {
  EXPECT_THAT(problems_of("store: {url: 'mongodb://h/d'}"),
              ElementsAre(HasSubstr("store.url must be sqlite:FILE")));
  EXPECT_THAT(problems_of("store: {url: 'env:DB'}", {{"DB", "hush"}}),
              ElementsAre(AllOf(HasSubstr("must be sqlite:FILE"), Not(HasSubstr("hush")))));
  EXPECT_THAT(problems_of("store: {url: [a]}"), ElementsAre(HasSubstr("must be sqlite:FILE")));
  EXPECT_THAT(problems_of("store: {url: 'memory:'}"), IsEmpty());
}

TEST(LoadConfig, ADataDirHoldsTheStore) {
  EXPECT_EQ(config_of("store: {data-dir: /var/lib/recourse}").store.url.reveal(),
            "sqlite:/var/lib/recourse/recourse.db");
}

TEST(LoadConfig, AServerForOtherMachinesNeedsAToken) {
  EXPECT_THAT(problems_of("server: {listen: '0.0.0.0:7070'}"),
              ElementsAre(AllOf(HasSubstr("recourse.yaml:1:18"), HasSubstr("there is no token"))));
  EXPECT_THAT(problems_of("server: {listen: '[::]:7070'}\nauth: {required: true}"),
              ElementsAre(HasSubstr("there is no token")));
  EXPECT_THAT(problems_of("server: {listen: '0.0.0.0:7070'}\n"
                          "auth: {tokens: [{name: ops, secret: 'env:T'}]}",
                          {{"T", kToken}}),
              IsEmpty());
  EXPECT_THAT(problems_of("server: {listen: '0.0.0.0:7070'}\nauth: {required: false}"),
              ElementsAre(HasSubstr("warning: everybody who reaches 0.0.0.0:7070")));
  EXPECT_THAT(problems_of("auth: {required: true}"), ElementsAre(HasSubstr("there is no token")));
}

TEST(LoadConfig, TokensHaveNamesAndThoseOnce) {
  const Environment environment{{"T", kToken}};

  EXPECT_THAT(problems_of("auth: {tokens: [{secret: 'env:T'}]}", environment),
              ElementsAre(HasSubstr("needs a name")));
  EXPECT_THAT(
      problems_of("auth: {tokens: [{name: a, secret: 'env:T'}, {name: a, secret: 'env:T'}]}",
                  environment),
      ElementsAre(HasSubstr("has the name \"a\" twice")));
  EXPECT_THAT(problems_of("auth: {tokens: [{name: a}]}"),
              ElementsAre(HasSubstr("auth.tokens.a.secret is missing; for example secret: env:")));
  EXPECT_THAT(problems_of("auth: {tokens: [a, b]}"), SizeIs(2));
}

TEST(LoadConfig, TlsNeedsBothFiles) {
  EXPECT_THAT(problems_of("server: {tls: {certificate: a.crt}}"),
              ElementsAre(HasSubstr("server.tls needs both certificate and key")));
  EXPECT_EQ(config_of("server: {tls: {certificate: a.crt, key: a.key}}").server.http.tls->key,
            "a.key");
}

TEST(LoadConfig, AFileOfNonsenseMakesAShortList) {
  std::string text;
  for (int i = 0; i < 5'000; ++i) text += "key" + std::to_string(i) + ": 1\n";

  const std::vector<std::string> problems = problems_of(text);

  EXPECT_THAT(problems, SizeIs(Problems::kListedMax + 1));
  EXPECT_EQ(problems.back(), "recourse.yaml: error: 4900 more problems");
}

TEST(LoadConfig, ReadsItsFile) {
  const std::string path = testing::TempDir() + "recourse_load_test.yaml";
  std::ofstream(path) << "node: {name: from-file}\n";

  EXPECT_EQ(load_config(path, {}, {}).config.value().node.name, "from-file");
  std::filesystem::remove(path);

  EXPECT_THAT(texts_of(load_config(path, {}, {})),
              ElementsAre(path + ": error: cannot read this file"));
  EXPECT_TRUE(load_config("", {}, {}).config);
}

}  // namespace
}  // namespace recourse::app
