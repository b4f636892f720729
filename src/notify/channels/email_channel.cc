#include "notify/channels/email_channel.h"

#include <utility>

#include "base/field_checks.h"
#include "notify/channels/mail_message.h"

namespace recourse::notify {
namespace {

constexpr std::size_t kRecipientsMax = 100;

Result<MailParties> parties_of(const EmailSettings& settings) {
  MailParties parties;
  Result<Mailbox> from = parse_mailbox("email.from", settings.from);
  if (!from) return fail(std::move(from).error());
  parties.from = *std::move(from);
  for (const std::string& text : settings.to) {
    Result<Mailbox> to = parse_mailbox("email.to", text);
    if (!to) return fail(std::move(to).error());
    parties.to.push_back(*std::move(to));
  }
  return parties;
}

class EmailChannel final : public Channel {
 public:
  EmailChannel(std::string name, EmailSettings settings, MailParties parties, const Clock& clock)
      : name_(std::move(name)),
        server_(std::move(settings.server)),
        parties_(std::move(parties)),
        clock_(clock) {}

  [[nodiscard]] const std::string& name() const override { return name_; }

  Result<> send(const Notice& notice, std::stop_token stop) override {
    SmtpMail mail{.from = parties_.from.address,
                  .to = {},
                  .content = mail_of(notice, parties_, clock_.now())};
    for (const Mailbox& to : parties_.to) mail.to.push_back(to.address);
    return send_mail(server_, mail, stop);
  }

 private:
  const std::string name_;
  const SmtpServer server_;
  const MailParties parties_;
  const Clock& clock_;
};

}  // namespace

Result<> validate(const EmailSettings& settings) {
  if (Result<> server = validate(settings.server); !server) return server;
  const Result<MailParties> parties = parties_of(settings);
  if (!parties) return fail(parties.error());
  return FieldChecks("email")
      .between("to", settings.to.size(), std::size_t{1}, kRecipientsMax)
      .result();
}

Result<std::shared_ptr<Channel>> make_email_channel(std::string name, EmailSettings settings,
                                                    const Clock& clock) {
  if (const Result<> valid = validate(settings); !valid) return fail(valid.error());
  Result<MailParties> parties = parties_of(settings);
  if (!parties) return fail(std::move(parties).error());
  return std::shared_ptr<Channel>(std::make_shared<EmailChannel>(
      std::move(name), std::move(settings), *std::move(parties), clock));
}

}  // namespace recourse::notify
