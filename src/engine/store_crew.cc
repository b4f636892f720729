#include "engine/store_crew.h"

#include <utility>

#include "base/thread_name.h"
#include "engine/core/ingest.h"

namespace recourse::engine {
namespace {

template <class... Ts>
bool is_one_of(const Command& command) {
  return (std::holds_alternative<Ts>(command) || ...);
}

}  // namespace

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
  hire(Line::kPeers, 1);
  hire(Line::kWaiting, kAgainCalls);
  hire(Line::kSlow, 1);
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
  if (is_one_of<Apply, RecordStarts>(command)) return Line::kApply;
  if (is_one_of<Claim>(command)) return Line::kClaim;
  if (is_one_of<Join, Heartbeat>(command)) return Line::kHeart;
  if (is_one_of<ReadNodes, DeclareDead, Adopt>(command)) return Line::kPeers;
  // Long reads, and notes: nobody waits for them.
  return Line::kSlow;
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
  name_this_thread("store-crew");
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
