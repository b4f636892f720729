// One mail to one SMTP server, over TLS or not at all. libcurl ends in the files named curl_*.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "http/reach.h"

namespace recourse::notify {

struct SmtpServer {
  // `smtps://HOST[:465]`, or `smtp://HOST[:PORT]` that must offer STARTTLS.
  std::string url = {};
  // Both or neither.
  std::string user = {};
  std::string password = {};
  Duration timeout = std::chrono::seconds(10);
  http::Reach reach = {};
  // PEM of authorities to trust instead of the system's.
  std::string authorities = {};
};

// The error does not quote the URL.
Result<> validate(const SmtpServer& server);

struct SmtpMail {
  std::string from;  // addresses alone
  std::vector<std::string> to;
  std::string content;
};

// Blocks, within the server's time. kInvalid where the server refuses the mail, the password or the
// other's certificate for good, else kUnavailable. An error names host and cause, no secret.
Result<> send_mail(const SmtpServer& server, const SmtpMail& mail, const std::stop_token& stop);

}  // namespace recourse::notify
