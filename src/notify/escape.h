// What tasks bring into a message is text and stays text, whatever markup the message is written
// in.
#pragma once

#include <string>
#include <string_view>

namespace recourse::notify {

// Between tags and within quotes.
std::string escape_html(std::string_view text);

// Slack's: the three characters that begin a mention, a link or an entity.
std::string escape_slack(std::string_view text);

// DingTalk's and WeCom's markdown have no escape sign. What could begin a link, a mention, a colour
// or a heading is written with its wide twin, which looks the same and means nothing.
std::string escape_chat_markdown(std::string_view text);

// Of a query's value: all but letters, digits and -._~ as %XX.
std::string escape_query(std::string_view text);

}  // namespace recourse::notify
