// The message door of a server: its sources opened, their messages handed to the engine.
//
//   broker ──> consumer (a Feeder) ──> Inbox::mark: mark and task in one ──> acknowledged
//                                                          └──> the engine runs the kind's handler
//
// A broker that is down, refuses our password or has no such queue stops nobody else: its source
// shows its trouble and is tried again, with growing pauses.
//
// Thread safety: safe to use from any thread, but for start() and stop().
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/desk.h"
#include "app/config/config.h"
#include "app/message_backlog.h"
#include "base/log.h"
#include "base/ulid_source.h"
#include "engine/node.h"
#include "message/feeder.h"
#include "message/refusals.h"
#include "store/opened.h"

namespace recourse::app {

std::vector<task::Kind> message_kinds_of(const Config& config);

// With its name and its URL, as its broker is opened.
message::SourceSettings source_settings(const std::string& name, const SourceConfig& source);

// What can be known without connecting to a broker; the error names the source.
Result<> check_sources(const Config& config, Log& log);

class MessageDoor {
 public:
  // All of them must outlive it.
  struct Parts {
    engine::Node& node;
    store::OpenedStore& opened;
    UlidSource& ids;
    Log& log;
    // What was decided before the engine had it.
    std::function<void(const engine::Moved&)> decided;
  };

  // Opens the sources; connects to nothing yet.
  static Result<std::unique_ptr<MessageDoor>> open(const Config& config, const Parts& parts);
  ~MessageDoor();

  // The handler of a message kind, with order, replay and the look at the body as the sources of
  // the kind want it, and with its log lines. Before the node starts.
  engine::Handler wrap(const std::string& kind, engine::Handler handler);
  // Whether that one waits for the store or a broker before it calls the kind's own.
  [[nodiscard]] bool may_wait(const std::string& kind) const;

  void start();
  // Takes nothing new; waits up to the limit for what is being recorded, and gives the rest back.
  void stop(Duration limit);
  // Before anything goes that recording uses.
  void join();

  [[nodiscard]] std::vector<api::SourceCard> sources() const;

 private:
  struct Source {
    SourceConfig config;
    api::SourceCard card;
    std::vector<std::unique_ptr<message::Feeder>> consumers = {};
  };

  explicit MessageDoor(const Parts& parts);
  Result<> add(const Config& config, const std::string& name, const SourceConfig& source);
  message::Deal deal_of(const Config& config, const SourceConfig& source);
  engine::Handler of_source(Source& source, engine::Handler handler);

  const Parts parts_;
  MessageBacklog backlog_;
  message::Refusals refusals_;
  std::map<std::string, Source> sources_;
};

}  // namespace recourse::app
