// The message door of an engine: its groups and its sources.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/rules.h"
#include "message/consumer.h"
#include "message/feeder.h"
#include "message/records.h"
#include "recourse/messages.h"
#include "task/ids.h"

namespace recourse::embed {

struct MessageGroup {
  std::string name;
  GroupOptions options;
  message::Handling handling;
  bool in_transaction = false;
  // Of its kind; complete once the engine starts.
  engine::KindRules rules;
  std::unique_ptr<message::Consumer> consumer;
};

// One connection of a source.
struct MessageFeeder {
  std::string group;
  std::string topic;
  std::unique_ptr<message::Feeder> feeder;
};

struct MessageDoor {
  explicit MessageDoor(MessagesOptions given) : options(std::move(given)) {}

  // What is wrong with all of it together.
  [[nodiscard]] Result<> check() const;
  void start() {
    for (const MessageFeeder& one : feeders) one.feeder->start();
  }
  // Feeders take nothing new; what they are at is waited for.
  void stop(Duration limit);
  // Before anything goes that handlers and marks use.
  void join() {
    for (const MessageFeeder& one : feeders) one.feeder->join();
  }

  [[nodiscard]] MessageGroup* find(std::string_view group) const {
    const auto found = groups.find(group);
    return found == groups.end() ? nullptr : found->second.get();
  }
  [[nodiscard]] std::vector<task::Kind> kinds() const {
    std::vector<task::Kind> all;
    for (const auto& [name, group] : groups) all.push_back(group->handling.kind);
    return all;
  }

  // One of the group that has the topic, or any; empty: the group has no source.
  [[nodiscard]] message::Feeder* feeder_of(std::string_view group, std::string_view topic) const;
  // Durable on the broker when it answers.
  Result<> publish(std::string_view group, message::Outgoing outgoing) const;

  const MessagesOptions options;
  std::map<std::string, std::unique_ptr<MessageGroup>, std::less<>> groups;
  // Last: they use all of the above.
  std::vector<MessageFeeder> feeders;
};

}  // namespace recourse::embed
