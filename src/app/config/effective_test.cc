#include "app/config/effective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/config/changes.h"
#include "app/config/load_driver.h"

namespace recourse::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kShownToken = "a-token-of-some-length";

std::vector<std::string> paths_of(const std::vector<Change>& changes) {
  std::vector<std::string> paths;
  for (const Change& change : changes) paths.push_back(change.path);
  return paths;
}

TEST(Effective, ShowsWhatIsNotTheDefaultAndWhereItCameFrom) {
  const Config config = config_of(
      "server: {threads: 2, connections: 2000}\n"
      "kinds: {grant: {url: 'http://a/', concurrency: 3}}\n"
      "auth: {tokens: [{name: ops, secret: 'env:T'}]}\n"
      "retry: {stick: {lease-ttl: 6s}}\n",
      {{"T", kShownToken}, {"RECOURSE__LOG__LEVEL", "debug"}}, {"shutdown.limit=5s"});

  const std::string text = to_text(settings_of(config, Which::kChanged));

  EXPECT_THAT(text, HasSubstr("server.threads: 2"));
  EXPECT_THAT(text, HasSubstr("# recourse.yaml:1:19\n"));
  EXPECT_THAT(text, Not(HasSubstr("server.connections"))) << "given, and the default";
  EXPECT_THAT(text, HasSubstr("log.level: debug"));
  EXPECT_THAT(text, HasSubstr("# environment variable RECOURSE__LOG__LEVEL\n"));
  EXPECT_THAT(text, HasSubstr("# flag shutdown.limit\n"));
  EXPECT_THAT(text, HasSubstr("retry.stick.renew-ahead: 2s"));
  EXPECT_THAT(text, HasSubstr("# derived\n"));
  EXPECT_THAT(text, HasSubstr("kinds.grant.concurrency: 3"));
  EXPECT_THAT(text, Not(HasSubstr("kinds.grant.timeout")));
  EXPECT_THAT(text, HasSubstr("auth.tokens.ops.secret: env:T"));
  EXPECT_THAT(text, Not(HasSubstr(kShownToken)));
}

TEST(Effective, OneWordForASectionIsTheOriginOfAllItSets) {
  const Config config = config_of("kinds: {a: {url: 'http://a/', retention: 2d}}");

  const std::vector<Setting> settings = settings_of(config, Which::kChanged);

  ASSERT_EQ(settings.size(), 6U);
  EXPECT_EQ(settings.at(0).path, "store.url");
  EXPECT_EQ(settings.at(0).origin, "derived");
  EXPECT_EQ(settings.at(1).path, "kinds.a.retention.succeeded");
  EXPECT_EQ(settings.at(1).origin, "recourse.yaml:1:42");
}

TEST(Effective, ShowsAllOnDemandAndNeverASecret) {
  const Config config = config_of("", {{"RECOURSE__STORE__URL", "postgres://u:hush@h/d"}});

  const std::string text = to_text(settings_of(config, Which::kAll));

  EXPECT_THAT(text, HasSubstr("server.listen: 127.0.0.1:7070"));
  EXPECT_THAT(text, HasSubstr("# default\n"));
  EXPECT_THAT(text, HasSubstr("store.url: \"***\""));
  EXPECT_THAT(text, Not(HasSubstr("hush")));
}

TEST(WhatChanged, TellsWhatCanBeTakenOverFromWhatNeedsARestart) {
  const Config before =
      config_of("log: {level: info}\nserver: {threads: 1}\nshutdown: {limit: 30s}\n");
  const Config after =
      config_of("log: {level: debug}\nserver: {threads: 2}\nshutdown: {limit: 30s}\n");

  const Changes changes = what_changed(before, after);

  EXPECT_THAT(paths_of(changes.now), ElementsAre("log.level"));
  EXPECT_EQ(changes.now.front().before, "info");
  EXPECT_EQ(changes.now.front().after, "debug");
  EXPECT_THAT(paths_of(changes.restart), ElementsAre("server.threads"));
}

TEST(WhatChanged, ASecretThatWasChangedBehindItsReferenceIsAChange) {
  const std::string file = "auth: {tokens: [{name: ops, secret: 'env:T'}]}";
  const Config before = config_of(file, {{"T", kShownToken}});
  const Config after = config_of(file, {{"T", "another-token-entirely"}});

  const Changes changes = what_changed(before, after);

  EXPECT_THAT(paths_of(changes.restart), ElementsAre("auth.tokens.ops.secret"));
  EXPECT_EQ(changes.restart.front().after, "env:T");
  EXPECT_THAT(changes.now, IsEmpty());
}

TEST(WhatChanged, AKindThatComesOrGoesIsOneChange) {
  const Config one = config_of("kinds: {a: {url: 'http://a/'}}");
  const Config two = config_of("kinds: {a: {url: 'http://a/'}, 'b.c': {url: 'http://b/'}}");

  EXPECT_THAT(paths_of(what_changed(one, two).restart), ElementsAre("kinds.\"b.c\""));
  EXPECT_THAT(paths_of(what_changed(two, one).restart), ElementsAre("kinds.\"b.c\""));
  EXPECT_THAT(paths_of(what_changed(one, one).restart), IsEmpty());
}

}  // namespace
}  // namespace recourse::app
