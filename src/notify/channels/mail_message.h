// A mail as it goes over the wire: multipart/alternative, text and HTML, both in base64, so that no
// line is too long, no dot begins one, and nothing that a task says can become a header.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "notify/notice.h"

namespace recourse::notify {

// `recourse@example.org`, or `Recourse <recourse@example.org>`.
struct Mailbox {
  std::string name = {};
  std::string address = {};
};

// The error names the field and quotes what was given. ASCII addresses only.
Result<Mailbox> parse_mailbox(std::string_view field, std::string_view text);

struct MailParties {
  Mailbox from;
  std::vector<Mailbox> to;
};

// Whole, with line ends of CR LF. Its Message-ID follows from the notice's id: a mail that is sent
// twice, because the first answer was lost, is one mail to its reader.
std::string mail_of(const Notice& notice, const MailParties& parties, TimePoint now);

std::string html_body(const Notice& notice);
// RFC 2047: words of base64 where it has more than plain characters, or, in the name of a mailbox,
// any that would mean something there.
std::string encoded_text(std::string_view text);
std::string encoded_name(std::string_view name);
std::string message_id(const Notice& notice, const Mailbox& from);

}  // namespace recourse::notify
