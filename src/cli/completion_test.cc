#include "cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/commands.h"

namespace recourse::cli {
namespace {

using testing::HasSubstr;

class CompletionTest : public testing::Test {
 protected:
  CompletionTest() { add_commands(program_, terminal_, chosen_); }

  std::istringstream in_;
  std::ostringstream out_;
  std::ostringstream err_;
  Terminal terminal_{.in = in_, .out = out_, .err = err_};
  std::function<int()> chosen_;
  CLI::App program_{"about", "recourse"};
};

TEST_F(CompletionTest, OffersCommandsAndTheirFlags) {
  const std::string script = bash_completion(program_);
  EXPECT_THAT(script, HasSubstr("'task') words='submit list show explain edit retry"));
  EXPECT_THAT(script, HasSubstr("'dead list') words='--help --kind --key --limit --all"));
}

TEST_F(CompletionTest, KnowsWhichFlagsTakeAValue) {
  const std::string script = bash_completion(program_);
  const std::size_t at = script.find("'dead list')");
  const std::string line = script.substr(at, script.find('\n', at) - at);
  const std::string values = line.substr(line.find("values="));
  EXPECT_THAT(values, HasSubstr(" --kind "));
  EXPECT_THAT(values, testing::Not(HasSubstr(" --all ")));
}

TEST_F(CompletionTest, CoversTheSameTreeForFish) {
  const std::string script = fish_completion(program_);
  EXPECT_THAT(script, HasSubstr("-n '__recourse_in task submit' -l payload "));
  EXPECT_THAT(script, HasSubstr("-n '__recourse_at kind' -a 'list show pause resume'"));
}

TEST_F(CompletionTest, EveryCommandHasExamplesAndNoSecretOnTheCommandLine) {
  std::vector<const CLI::App*> apps{&program_};
  std::size_t seen = 0;
  while (!apps.empty()) {
    const CLI::App* app = apps.back();
    apps.pop_back();
    for (const CLI::App* sub : app->get_subcommands([](const CLI::App*) { return true; })) {
      ++seen;
      EXPECT_THAT(sub->get_footer(), HasSubstr("recourse ")) << sub->get_name();
      EXPECT_EQ(sub->get_option_no_throw("--token"), nullptr) << sub->get_name();
      apps.push_back(sub);
    }
  }
  EXPECT_GT(seen, 30U);
}

}  // namespace
}  // namespace recourse::cli
