// The groups of the message door: how their messages are handled, and by whom.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "embed/message_access.h"
#include "embed/messages_impl.h"
#include "message/cleaning.h"
#include "message/failed_run.h"
#include "message/log_lines.h"
#include "message/ordering.h"
#include "message/replay.h"

namespace recourse {
namespace {

// Retries are never further apart, whatever a program's own delay says.
constexpr Duration kLongestDelay = std::chrono::hours(24 * 7);

message::Handling handling_of(std::string_view group, const GroupOptions& options) {
  return {.kind = task::Kind(std::string(group)),
          .tenant = task::Tenant(options.tenant),
          .max_retries = options.max_retries,
          .timeout = options.timeout,
          .ordered = options.ordered,
          .keep_done_for = options.keep_done_for};
}

// The backoff of a group with a delay of its own, by its name in the registry.
std::string delay_name(std::size_t number) { return fmt::format("message-delay-{}", number); }

engine::KindRules rules_of(const GroupOptions& options, std::size_t number) {
  engine::KindRules rules;
  rules.settings.concurrency = options.concurrency;
  rules.settings.breaker_enabled = options.breaker;
  rules.settings.backoff = {.strategy = options.delay ? delay_name(number) : "message",
                            .base = options.base_delay,
                            .min = Duration::zero(),
                            .max = kLongestDelay,
                            .jitter = policy::Jitter::kNone,
                            .jitter_ratio = 0};
  rules.router = message::router_of(options.classify);
  return rules;
}

message::OrderSettings order_of(const GroupOptions& options) {
  return {.skips_dead_heads = options.dead_head == DeadHead::kSkip};
}

std::string code_of(ErrorCode code) {
  std::string word(to_string(code));
  std::ranges::transform(word, word.begin(),
                         [](char c) { return c == '_' ? c : static_cast<char>(c - 'a' + 'A'); });
  return word;
}

// An error that a handler answers, as if it had thrown it.
std::string unwrap(Result<std::string> answered) {
  if (answered) return *std::move(answered);
  const Error& error = answered.error();
  FailureDetail detail{.type = "recourse::Error", .code = code_of(error.code)};
  if (error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kInDoubt ||
      error.code == ErrorCode::kExhausted) {
    detail.retryable = true;
  }
  throw MessageFailure(error.message, std::move(detail));
}

}  // namespace

CreateTransaction detail::MessageAccess::transaction(store::Guest& guest, Engine::Impl& engine) {
  return {guest, engine};
}

message::Run Messages::Impl::run_of(MessageHandler handler) {
  if (!handler) return nullptr;
  return [handler = std::move(handler)](message::Call& call) {
    detail::MessageAccess::Seen seen{.call = call};
    return unwrap(handler(detail::MessageAccess::context(seen)));
  };
}

message::Run Messages::Impl::run_of(TransactionalMessageHandler handler) {
  return [handler = std::move(handler), &engine = engine](message::Call& call) {
    detail::MessageAccess::Seen seen{.call = call};
    CreateTransaction own = detail::MessageAccess::transaction(*call.guest, engine);
    return unwrap(handler(own, detail::MessageAccess::context(seen)));
  };
}

embed::MessageGroup* Messages::Impl::add_group(std::string_view name,
                                               const std::optional<GroupOptions>& given) {
  if (!engine.may_register(name)) return nullptr;
  const auto refuse = [&](std::string_view why) {
    engine.note(fail(ErrorCode::kInvalid, fmt::format("message group {} {}", shown(name), why)));
    return nullptr;
  };
  if (name.empty() || name.ends_with('*')) {
    return refuse("must be a whole name: messages are listed and counted by it");
  }
  if (door.find(name) != nullptr) return refuse("was given twice");
  auto group = std::make_unique<embed::MessageGroup>();
  group->name = name;
  group->options = given.value_or(door.options.groups);
  group->handling = handling_of(name, group->options);
  const std::size_t number = door.groups.size() + 1;
  group->rules = rules_of(group->options, number);
  group->rules.backoffs = engine.backoffs;
  if (Result<> valid = validate(group->handling); !valid) return refuse(valid.error().message);
  if (group->options.ordered && group->options.replay_to_broker) {
    return refuse(
        "is ordered and replays to its broker: what is published again takes its place behind what "
        "came later");
  }
  if (Result<> valid = policy::validate(group->rules.settings.backoff); !valid) {
    return refuse(valid.error().message);
  }
  if (group->options.delay) {
    engine.note(engine.backoffs->add(
        delay_name(number),
        [delay = group->options.delay](Duration, int retry) { return delay(retry); }));
  }
  if (!door.options.clean_when.empty()) {
    engine.registrations.emplace_back(
        [node = engine.node.get(), kind = group->handling.kind, when = door.options.clean_when] {
          auto made = message::cleaning_schedule(kind, when);
          return made ? node->schedule(*std::move(made)) : fail(made.error());
        });
  }
  return door.groups.emplace(std::string(name), std::move(group)).first->second.get();
}

void Messages::Impl::give_consumer(embed::MessageGroup& group, const message::Run& run) {
  engine::Node& node = *engine.node;
  group.consumer = std::make_unique<message::Consumer>(
      message::ConsumerSettings{.group = group.name,
                                .handling = group.handling,
                                .in_transaction = group.in_transaction,
                                .order = order_of(group.options)},
      message::ConsumerParts{.opened = *engine.store.opened,
                             .rules = group.rules,
                             .ids = engine.ids,
                             .log = engine.log,
                             .store_now = [&node] { return node.store_now(); },
                             .node = [&node] { return node.status().node; },
                             .hint = [&node](Duration in) { node.hint_work(in); },
                             .escalated =
                                 [&engine = engine] {
                                   if (engine.telling) engine.telling->hint();
                                 }},
      run, run_of(group.options.retry_action));
}

void Messages::Impl::take_retries(embed::MessageGroup& group) {
  engine::Handler handler = message::announcing(
      [consumer = group.consumer.get()](const std::shared_ptr<engine::AttemptRun>& run) {
        consumer->retry(run);
      },
      engine.log);
  if (group.options.replay_to_broker) {
    handler = message::replay_retries(
        std::move(handler), {.inbox = engine.store.opened->inbox(),
                             .log = engine.log,
                             .publish = [&door = door, name = group.name](message::Outgoing one) {
                               return door.publish(name, std::move(one));
                             }});
  }
  if (group.options.ordered) {
    handler = message::keep_order(std::move(handler), engine.store.opened->reader(),
                                  order_of(group.options));
  }
  engine.register_later(group.name, group.rules, std::move(handler), nullptr);
}

}  // namespace recourse
