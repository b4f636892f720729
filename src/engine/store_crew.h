// Threads that carry the core's store commands to the store and its answers back. A line of its own
// for each sort of call, so that none waits behind another: a heartbeat never behind work, work
// never behind somebody else's transaction.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "engine/core/command.h"
#include "engine/inbox.h"
#include "engine/store_caller.h"
#include "store/opened.h"

namespace recourse::engine {

class StoreCrew {
 public:
  // The store and the inbox must outlive it. `name` is what the store's audit calls this node.
  StoreCrew(store::OpenedStore& opened, Inbox& inbox, std::string name, int inserts, int applies);
  // Ends when all that was given is done.
  ~StoreCrew();
  StoreCrew(const StoreCrew&) = delete;
  StoreCrew& operator=(const StoreCrew&) = delete;

  // Only store commands.
  void carry_out(Command command);

 private:
  enum class Line : std::uint8_t { kInsert, kApply, kClaim, kHeart, kPeers, kWaiting, kSlow };
  static constexpr std::size_t kLines = 7;

  struct Desk {
    Mutex mutex;
    ConditionVariable changed;
    std::deque<Command> waiting GUARDED_BY(mutex);
    bool closing GUARDED_BY(mutex) = false;
  };

  static Line line_of(const Command& command);
  void work(Desk& desk);

  StoreCaller caller_;
  Inbox& inbox_;
  std::array<Desk, kLines> desks_;
  std::vector<std::thread> threads_;
};

}  // namespace recourse::engine
