// The message door: its groups and sources, and what is consumed by hand.
#include <fmt/format.h>

#include <utility>

#include "base/field_checks.h"
#include "base/text.h"
#include "embed/messages_impl.h"
#include "message/cleaning.h"
#include "message/failed_run.h"

namespace recourse {
namespace {

Result<> check(const MessagesOptions& options) {
  using namespace std::chrono_literals;
  return FieldChecks("messages")
      .between<Duration>("keep_processed", options.keep_processed, 1h, kLongestWait)
      .between<Duration>("keep_ignored", options.keep_ignored, 1h, kLongestWait)
      .result();
}

}  // namespace

void Messages::throw_undecodable(const Error& error) {
  throw MessageFailure(
      "the body cannot be decoded: " + error.message,
      {.type = "recourse::Codec", .code = std::string(message::kUndecodable), .retryable = false});
}

Result<Messages> Messages::on(Engine& engine, const MessagesOptions& options) {
  Engine::Impl& impl = *engine.impl_;
  if (impl.started) {
    return fail(ErrorCode::kInvalid, "the message door is opened before the engine starts");
  }
  if (impl.messages) return fail(ErrorCode::kInvalid, "this engine has a message door already");
  if (Result<> valid = check(options); !valid) return fail(valid.error());
  impl.messages = std::make_unique<embed::MessageDoor>(options);
  if (!options.clean_when.empty()) {
    impl.register_later(message::kCleanKind, {},
                        message::cleaning_handler(
                            *impl.store.opened, impl.clock, impl.log,
                            {.processed = options.keep_processed, .ignored = options.keep_ignored}),
                        nullptr);
  }
  return Messages(std::make_shared<Impl>(impl, *impl.messages));
}

Messages& Messages::handle_bytes(std::string_view name, MessageHandler handler,
                                 const std::optional<GroupOptions>& options) {
  if (embed::MessageGroup* group = impl_->add_group(name, options)) {
    impl_->give_consumer(*group, Impl::run_of(std::move(handler)));
    impl_->take_retries(*group);
  }
  return *this;
}

Messages& Messages::handle_bytes_in_transaction(std::string_view name,
                                                TransactionalMessageHandler handler,
                                                const std::optional<GroupOptions>& options) {
  embed::MessageGroup* group = impl_->add_group(name, options);
  if (group == nullptr) return *this;
  if (impl_->engine.store_url.starts_with("memory:")) {
    impl_->engine.note(
        fail(ErrorCode::kInvalid,
             fmt::format("message group {} shares transactions, which a store in memory "
                         "has none of: use sqlite:FILE, postgres:// or mysql://",
                         shown(name))));
  }
  group->in_transaction = true;
  impl_->give_consumer(*group, impl_->run_of(std::move(handler)));
  impl_->take_retries(*group);
  return *this;
}

Messages& Messages::know(std::string_view name, const std::optional<GroupOptions>& options) {
  if (embed::MessageGroup* group = impl_->add_group(name, options))
    impl_->give_consumer(*group, nullptr);
  return *this;
}

Messages& Messages::from(SourceOptions source) {
  if (!impl_->engine.may_register(source.name)) return *this;
  // At start(): its group may be given after it.
  impl_->engine.registrations.emplace_back(
      [impl = impl_, given = std::move(source)] { return impl->add_source(given); });
  return *this;
}

}  // namespace recourse
