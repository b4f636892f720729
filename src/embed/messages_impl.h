// What a Messages holds: a way into its engine's door.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "embed/engine_impl.h"
#include "embed/message_door.h"
#include "recourse/messages.h"

namespace recourse {

struct Messages::Impl {
  Impl(Engine::Impl& on, embed::MessageDoor& of) : engine(on), door(of) {}

  // --- message_groups.cc ---
  static message::Run run_of(MessageHandler handler);
  message::Run run_of(TransactionalMessageHandler handler);
  // Empty: too late, taken, or no good name or options, and said so by start().
  embed::MessageGroup* add_group(std::string_view name, const std::optional<GroupOptions>& given);
  void give_consumer(embed::MessageGroup& group, const message::Run& run);
  // The engine runs its retries here.
  void take_retries(embed::MessageGroup& group);

  // --- message_sources.cc ---
  Result<> add_source(const SourceOptions& source);

  // --- message_consume.cc ---
  Result<message::Consumer*> consumer_of(std::string_view group, bool needs_handler);

  // --- message_records.cc ---
  Result<message::Query> query_of(const MessageQuery& asked) const;
  Result<message::Record> record_of(std::string_view id) const;
  Result<std::string> steer(std::string_view id, std::string_view by,
                            Result<task::Move> (*move_of)(const message::Record& record)) const;
  Result<> retry_page(const std::vector<message::Record>& records, std::string_view by,
                      RetriedMessages& progress) const;

  Engine::Impl& engine;
  embed::MessageDoor& door;
};

}  // namespace recourse
