#include "engine/store_crew.h"

#include <utility>

namespace recourse::engine {

StoreCrew::StoreCrew(store::OpenedStore& opened, Inbox& inbox, std::string name, int inserts,
                     int applies)
    : caller_(opened, std::move(name)), inbox_(inbox) {
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
  hire(Line::kNotes, 1);
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
  if (std::holds_alternative<WriteNotes>(command)) return Line::kNotes;
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
    (void)inbox_.put(caller_.call(command));
  }
}

}  // namespace recourse::engine
