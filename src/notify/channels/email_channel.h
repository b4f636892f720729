// Notices as mails.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "notify/channel.h"
#include "notify/channels/curl_smtp.h"

namespace recourse::notify {

struct EmailSettings {
  SmtpServer server = {};
  // `recourse@example.org`, or `Recourse <recourse@example.org>`.
  std::string from = {};
  // At most 100; one mail for all of them.
  std::vector<std::string> to = {};
};

Result<> validate(const EmailSettings& settings);

// The clock must outlive it.
Result<std::shared_ptr<Channel>> make_email_channel(std::string name, EmailSettings settings,
                                                    const Clock& clock);

}  // namespace recourse::notify
