#include "engine/store_caller.h"

#include <utility>

#include "base/invariant.h"
#include "store/countdown.h"

namespace recourse::engine {

Event StoreCaller::call(Command& command) {
  return std::visit(
      [&](auto& one) -> Event {
        if constexpr (requires { ask(one); }) {
          return ask(one);
        } else {
          invariant(false, "the store is asked for store commands only");
          std::abort();
        }
      },
      command);
}

Event StoreCaller::ask(Insert& command) {
  auto answer = command.may_wait
                    ? store_.insert_alone(command.batch.front(), command.novelty, command.within)
                    : store_.insert(command.batch, command.novelty, command.within);
  return InsertEnded{command.call, std::move(command.batch), std::move(answer)};
}

Event StoreCaller::ask(Claim& command) {
  return ClaimEnded{command.call, store_.claim(command.request, command.within)};
}

Event StoreCaller::ask(Apply& command) {
  auto answer = store_.apply(command.batch, command.within);
  return ApplyEnded{command.call, std::move(command.batch), std::move(answer)};
}

Event StoreCaller::ask(RecordStarts& command) {
  auto answer = store_.record_starts(command.batch, command.within);
  return StartsEnded{command.call, std::move(command.batch), std::move(answer)};
}

Event StoreCaller::ask(Join& command) {
  return JoinEnded{command.call, store_.join(command.node, command.within)};
}

Event StoreCaller::ask(Heartbeat& command) {
  return HeartbeatEnded{command.call,
                        store_.heartbeat(command.node, command.pauses_seen, command.within)};
}

Event StoreCaller::ask(ReadNodes& command) { return NodesRead{reader_.nodes(command.within)}; }

Event StoreCaller::ask(DeclareDead& command) {
  return DeclareEnded{command.node,
                      store_.declare_dead(command.node, command.beat_seen, name_, command.within)};
}

Event StoreCaller::ask(Adopt& command) { return AdoptEnded{store_.adopt(name_, command.within)}; }

// Page by page: a node may hold a hundred thousand.
Event StoreCaller::ask(ReadHeld& command) {
  std::vector<store::Held> all;
  std::optional<task::TaskId> after;
  const store::Countdown countdown(command.within);
  while (true) {
    auto page =
        reader_.held_by(task::Owner(command.node), after, store::kPageRowsMax, countdown.left());
    if (!page) return HeldRead{command.node, fail(page.error())};
    all.insert(all.end(), page->begin(), page->end());
    if (page->size() < store::kPageRowsMax) break;
    after = page->back().task;
  }
  return HeldRead{command.node, std::move(all)};
}

Event StoreCaller::ask(ReadTasks& command) {
  std::vector<task::Task> found;
  const store::Countdown countdown(command.within);
  for (const task::TaskId& id : command.ids) {
    auto task = reader_.find(id, countdown.left());
    if (task) {
      found.push_back(*std::move(task));
    } else if (task.error().code != ErrorCode::kNotFound) {
      return TasksRead{fail(task.error())};
    }
  }
  return TasksRead{std::move(found)};
}

Event StoreCaller::ask(ReadCounts& command) { return CountsRead{reader_.counts(command.within)}; }

Event StoreCaller::ask(WriteNotes& command) {
  return NotesEnded{command.call, store_.note(command.batch, command.within)};
}

}  // namespace recourse::engine
