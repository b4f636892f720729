// Carries one store command to the store, and brings its answer back as the event the core expects.
#pragma once

#include <string>
#include <utility>

#include "engine/core/command.h"
#include "engine/core/event.h"
#include "store/opened.h"

namespace recourse::engine {

// Safe to use from any thread.
class StoreCaller {
 public:
  // The store must outlive it. `name` is what the store's audit calls this node.
  StoreCaller(store::OpenedStore& opened, std::string name)
      : store_(opened.store()), reader_(opened.reader()), name_(std::move(name)) {}

  // Only store commands. Blocks until the store has answered.
  Event call(Command& command);

 private:
  Event ask(Insert& command);
  Event ask(Claim& command);
  Event ask(Apply& command);
  Event ask(RecordStarts& command);
  Event ask(Join& command);
  Event ask(Heartbeat& command);
  Event ask(ReadNodes& command);
  Event ask(DeclareDead& command);
  Event ask(Adopt& command);
  Event ask(ReadHeld& command);
  Event ask(ReadTasks& command);
  Event ask(ReadCounts& command);
  Event ask(WriteNotes& command);

  store::Store& store_;
  store::Reader& reader_;
  const std::string name_;
};

}  // namespace recourse::engine
