#include "notify/escape.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace recourse::notify {
namespace {

TEST(Escape, HtmlCannotBeginATagOrLeaveAnAttribute) {
  EXPECT_EQ(escape_html("<a href='x' b=\"y\">&"),
            "&lt;a href=&#39;x&#39; b=&quot;y&quot;&gt;&amp;");
}

TEST(Escape, SlackCannotBeToldToCallAChannel) {
  EXPECT_EQ(escape_slack("<!channel> & <@U1>"), "&lt;!channel&gt; &amp; &lt;@U1&gt;");
}

TEST(Escape, QueryValuesAreWholeInTheirUrl) {
  EXPECT_EQ(escape_query("a+b/c=&\u00E4~"), "a%2Bb%2Fc%3D%26%C3%A4~");
}

RC_GTEST_PROP(Escape, LeavesNothingThatBeginsMarkup, (const std::string& text)) {
  RC_ASSERT(escape_html(text).find_first_of("<>\"'") == std::string::npos);
  RC_ASSERT(escape_slack(text).find_first_of("<>") == std::string::npos);
  RC_ASSERT(escape_chat_markdown(text).find_first_of("<>[]*#`@\\") == std::string::npos);
}

}  // namespace
}  // namespace recourse::notify
