#include "engine/store_crew.h"

#include <type_traits>
#include <utility>

#include "base/invariant.h"

namespace recourse::engine {

StoreCrew::StoreCrew(store::OpenedStore& opened, Inbox& inbox, std::string name, int inserts,
                     int applies)
    : store_(opened.store()), reader_(opened.reader()), inbox_(inbox), name_(std::move(name)) {
  const auto hire = [&](Line line, int threads) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this, line] { work(desks_[static_cast<std::size_t>(line)]); });
    }
  };
  hire(Line::kInsert, inserts);
  hire(Line::kApply, applies);
  hire(Line::kClaim, 1);
  hire(Line::kHeart, 1);
  hire(Line::kWaiting, 1);
  hire(Line::kOther, 1);
}

StoreCrew::~StoreCrew() {
  for (Desk& desk : desks_) {
    {
      MutexLock lock(desk.mutex);
      desk.closing = true;
    }
    desk.changed.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

StoreCrew::Line StoreCrew::line_of(const Command& command) {
  if (const auto* insert = std::get_if<Insert>(&command)) {
    return insert->may_wait ? Line::kWaiting : Line::kInsert;
  }
  if (std::holds_alternative<Apply>(command)) return Line::kApply;
  if (std::holds_alternative<Claim>(command)) return Line::kClaim;
  if (std::holds_alternative<Join>(command) || std::holds_alternative<Heartbeat>(command)) {
    return Line::kHeart;
  }
  return Line::kOther;
}

void StoreCrew::carry_out(Command command) {
  Desk& desk = desks_[static_cast<std::size_t>(line_of(command))];
  {
    MutexLock lock(desk.mutex);
    desk.waiting.push_back(std::move(command));
  }
  desk.changed.notify_one();
}

void StoreCrew::work(Desk& desk) {
  while (true) {
    Command command;
    {
      MutexLock lock(desk.mutex);
      while (desk.waiting.empty() && !desk.closing) desk.changed.wait(desk.mutex);
      if (desk.waiting.empty()) return;
      command = std::move(desk.waiting.front());
      desk.waiting.pop_front();
    }
    answer(command);
  }
}

void StoreCrew::answer(Command& command) {
  std::visit(
      [&](auto& one) {
        if constexpr (requires { call(one); }) {
          call(one);
        } else {
          invariant(false, "the store's threads get store commands only");
        }
      },
      command);
}

void StoreCrew::call(Insert& command) {
  auto answer = store_.insert(command.batch, command.novelty, command.within);
  (void)inbox_.put(InsertEnded{command.call, std::move(command.batch), std::move(answer)});
}

void StoreCrew::call(Claim& command) {
  (void)inbox_.put(ClaimEnded{command.call, store_.claim(command.request, command.within)});
}

void StoreCrew::call(Apply& command) {
  auto answer = store_.apply(command.batch, command.within);
  (void)inbox_.put(ApplyEnded{command.call, std::move(command.batch), std::move(answer)});
}

void StoreCrew::call(RecordStarts& command) {
  auto answer = store_.record_starts(command.batch, command.within);
  (void)inbox_.put(StartsEnded{command.call, std::move(command.batch), std::move(answer)});
}

void StoreCrew::call(Join& command) {
  (void)inbox_.put(JoinEnded{command.call, store_.join(command.node, command.within)});
}

void StoreCrew::call(Heartbeat& command) {
  (void)inbox_.put(HeartbeatEnded{
      command.call, store_.heartbeat(command.node, command.pauses_seen, command.within)});
}

void StoreCrew::call(ReadNodes& command) {
  (void)inbox_.put(NodesRead{reader_.nodes(command.within)});
}

void StoreCrew::call(DeclareDead& command) {
  (void)inbox_.put(DeclareEnded{
      command.node, store_.declare_dead(command.node, command.beat_seen, name_, command.within)});
}

void StoreCrew::call(Adopt& command) {
  (void)inbox_.put(AdoptEnded{store_.adopt(name_, command.within)});
}

// Page by page: a node may hold a hundred thousand.
void StoreCrew::call(ReadHeld& command) {
  std::vector<store::Held> all;
  std::optional<task::TaskId> after;
  while (true) {
    auto page =
        reader_.held_by(task::Owner(command.node), after, store::kPageRowsMax, command.within);
    if (!page) {
      (void)inbox_.put(HeldRead{command.node, fail(page.error())});
      return;
    }
    all.insert(all.end(), page->begin(), page->end());
    if (page->size() < store::kPageRowsMax) break;
    after = page->back().task;
  }
  (void)inbox_.put(HeldRead{command.node, std::move(all)});
}

void StoreCrew::call(ReadTasks& command) {
  std::vector<task::Task> found;
  for (const task::TaskId& id : command.ids) {
    auto task = reader_.find(id, command.within);
    if (task) {
      found.push_back(*std::move(task));
    } else if (task.error().code != ErrorCode::kNotFound) {
      (void)inbox_.put(TasksRead{fail(task.error())});
      return;
    }
  }
  (void)inbox_.put(TasksRead{std::move(found)});
}

void StoreCrew::call(ReadCounts& command) {
  (void)inbox_.put(CountsRead{reader_.counts(command.within)});
}

}  // namespace recourse::engine
