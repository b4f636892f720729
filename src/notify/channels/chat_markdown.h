// The markdown that DingTalk and WeCom both understand: a heading, bold labels, a quotation, a
// link.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "notify/notice.h"

namespace recourse::notify {

struct ChatMarkdown {
  // Of the whole. The link is kept in any case, the error is cut first.
  std::size_t bytes_max;
  std::string_view line_end;
};

std::string chat_markdown(const Notice& notice, const ChatMarkdown& format);

}  // namespace recourse::notify
