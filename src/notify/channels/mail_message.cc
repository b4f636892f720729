#include "notify/channels/mail_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "base/stable_hash.h"
#include "base/text.h"
#include "http/base64.h"
#include "notify/escape.h"
#include "notify/wording.h"

namespace recourse::notify {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::size_t kSubjectCharacters = 200;
constexpr std::size_t kBase64Line = 76;
// Of an encoded word there may be 75 characters, `=?UTF-8?B?` and `?=` included.
constexpr std::size_t kWordBytes = 45;

bool is_plain_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7F; });
}

bool is_address(std::string_view text) {
  constexpr std::string_view kForbidden = "<>()[],;:\\\" @";
  const std::size_t sign = text.find('@');
  if (sign == std::string_view::npos || sign == 0 || text.size() > 254 || !is_plain_ascii(text)) {
    return false;
  }
  const std::string_view host = text.substr(sign + 1);
  return text.substr(0, sign).find_first_of(kForbidden) == std::string_view::npos &&
         !host.empty() && host.find_first_of(kForbidden) == std::string_view::npos;
}

std::string trimmed(std::string_view text) {
  const std::string line = one_line(text, kNameCharactersMax);
  const std::string_view inside = line.size() >= 2 && line.front() == '"' && line.back() == '"'
                                      ? std::string_view(line).substr(1, line.size() - 2)
                                      : std::string_view(line);
  return std::string(inside);
}

std::string in_words(std::string_view text) {
  std::string words;
  while (!text.empty()) {
    std::size_t size = std::min(text.size(), kWordBytes);
    while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
    if (!words.empty()) words += "\r\n ";
    words += fmt::format("=?UTF-8?B?{}?=", http::to_base64(text.substr(0, size)));
    text.remove_prefix(size);
  }
  return words;
}

std::string shown_mailbox(const Mailbox& mailbox) {
  if (mailbox.name.empty()) return mailbox.address;
  return fmt::format("{} <{}>", encoded_name(mailbox.name), mailbox.address);
}

std::string in_lines(const std::string& base64) {
  std::string lines;
  for (std::size_t at = 0; at < base64.size(); at += kBase64Line) {
    lines += base64.substr(at, kBase64Line);
    lines += kLineEnd;
  }
  return lines;
}

// Mon, 16 Nov 2026 09:15:00 +0000
std::string mail_date(TimePoint now) {
  constexpr std::array kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                               "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = std::chrono::floor<std::chrono::days>(now);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(std::chrono::floor<std::chrono::seconds>(now - day));
  return fmt::format(
      "{}, {:02} {} {:04} {:02}:{:02}:{:02} +0000", kDays[std::chrono::weekday(day).c_encoding()],
      static_cast<unsigned>(date.day()), kMonths[static_cast<unsigned>(date.month()) - 1],
      static_cast<int>(date.year()), time.hours().count(), time.minutes().count(),
      time.seconds().count());
}

std::string part(std::string_view boundary, std::string_view type, const std::string& body) {
  return fmt::format(
      "--{}\r\nContent-Type: {}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n{}",
      boundary, type, in_lines(http::to_base64(body)));
}

std::string hash_text(std::string_view text) {
  std::string hex;
  for (const auto byte : stable_hash(text)) hex += fmt::format("{:02x}", byte);
  return hex;
}

}  // namespace

Result<Mailbox> parse_mailbox(std::string_view field, std::string_view text) {
  Mailbox mailbox{.address = one_line(text, 512)};
  const std::size_t open = text.rfind('<');
  if (open != std::string_view::npos && text.ends_with('>')) {
    mailbox.name = trimmed(text.substr(0, open));
    mailbox.address = text.substr(open + 1, text.size() - open - 2);
  }
  if (is_address(mailbox.address) && is_plain_text(text)) return mailbox;
  return fail(ErrorCode::kInvalid,
              fmt::format("{} must be a mail address such as ops@example.org or "
                          "Recourse <recourse@example.org>, not {}",
                          field, shown(text)));
}

std::string encoded_text(std::string_view text) {
  const std::string line = one_line(text, kSubjectCharacters);
  return is_plain_ascii(line) && line.find("=?") == std::string::npos ? line : in_words(line);
}

std::string encoded_name(std::string_view name) {
  constexpr std::string_view kSpecial = "=?<>\",;:@()[]\\.";
  const std::string line = one_line(name, kSubjectCharacters);
  const bool plain = is_plain_ascii(line) && line.find_first_of(kSpecial) == std::string::npos;
  return plain ? line : in_words(line);
}

std::string message_id(const Notice& notice, const Mailbox& from) {
  const std::string_view host = std::string_view(from.address).substr(from.address.find('@') + 1);
  return fmt::format("<{}@{}>", hash_text(notice.id), host);
}

std::string html_body(const Notice& notice) {
  std::string html =
      fmt::format("<html><body><h3>{}</h3>\n<table>\n", escape_html(headline(notice)));
  for (const Fact& fact : facts_of(notice)) {
    html += fmt::format("<tr><th align=\"left\">{}</th><td>{}</td></tr>\n", escape_html(fact.label),
                        escape_html(fact.value));
  }
  html += "</table>\n";
  if (!notice.last_error.empty()) {
    html += fmt::format("<pre style=\"white-space: pre-wrap\">{}</pre>\n",
                        escape_html(notice.last_error));
  }
  if (notice.more > 0) html += fmt::format("<p>{}</p>\n", escape_html(more_line(notice)));
  if (!notice.link.empty()) {
    html += fmt::format("<p><a href=\"{}\">Open the task</a></p>\n", escape_html(notice.link));
  }
  return html + "</body></html>\n";
}

std::string mail_of(const Notice& notice, const MailParties& parties, TimePoint now) {
  // Base64 has no `_`, so the boundary is never a line of a part.
  const std::string boundary = "=_" + hash_text(notice.id);
  std::string to;
  for (const Mailbox& one : parties.to) to += (to.empty() ? "" : ",\r\n ") + shown_mailbox(one);
  std::string mail;
  const auto header = [&mail](std::string_view name, std::string_view value) {
    mail += fmt::format("{}: {}\r\n", name, value);
  };
  header("Date", mail_date(now));
  header("From", shown_mailbox(parties.from));
  header("To", to);
  header("Subject", encoded_text(headline(notice)));
  header("Message-ID", message_id(notice, parties.from));
  header("MIME-Version", "1.0");
  // So that nobody's holiday answers it.
  header("Auto-Submitted", "auto-generated");
  header("Content-Type", fmt::format("multipart/alternative;\r\n boundary=\"{}\"", boundary));
  mail += kLineEnd;
  mail += part(boundary, "text/plain", plain_text(notice));
  mail += part(boundary, "text/html", html_body(notice));
  mail += fmt::format("--{}--\r\n", boundary);
  return mail;
}

}  // namespace recourse::notify
