// Where timers wait: a slot of the wheel is a chain of blocks of (due time, timer) pairs.
//
// Not a linked list through the timers, which is what wheels usually are: a million timers do not
// fit a cache, and following such a list misses it once per timer, each miss waiting for the one
// before (measured: 170 ns a timer). In blocks the due times lie side by side, so that a slot is
// collected and sorted without touching a timer. A timer knows its place, and the one that leaves
// is replaced by the last of its slot: cancelling stays O(1).
//
// Blocks come from a pool that keeps what it gets back, so nothing is allocated once it has grown
// to the most timers ever pending.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/time.h"
#include "timing/timer.h"

namespace recourse::timing {

struct Entry {
  TimePoint due;
  Timer* timer;
};

// Aligned so that no entry lies across two cache lines.
struct alignas(64) Block {
  static constexpr std::uint32_t kCapacity = 31;

  std::array<Entry, kCapacity> entries;
  Block* next = nullptr;
};
static_assert(sizeof(Block) == 512);

class BlockPool {
 public:
  Block& take() {
    if (free_ == nullptr) grow();
    Block& block = *free_;
    free_ = std::exchange(block.next, nullptr);
    return block;
  }
  void give_back(Block& block) { block.next = std::exchange(free_, &block); }

 private:
  static constexpr std::size_t kBlocksPerGrowth = 64;

  void grow();

  std::vector<std::unique_ptr<Block[]>> blocks_;
  Block* free_ = nullptr;
};

// Thread safety: none. What every timer passes through is inline: a call costs as much as the work.
class Slot {
 public:
  // Timers remember the number, so that who has a timer finds its slot.
  explicit Slot(std::uint32_t number) : number_(number) {}

  [[nodiscard]] bool empty() const { return newest_ == nullptr; }

  void add(Entry entry, BlockPool& pool);
  // The timer must be in this slot.
  void remove(Timer& timer, BlockPool& pool);
  // Moves all entries to the end of `entries`. The timers' places are the caller's to set then.
  void drain_into(std::vector<Entry>& entries, BlockPool& pool);
  // Of a slot that is not empty. O(1), but for the first call after the earliest has left.
  [[nodiscard]] TimePoint earliest() const;

 private:
  void drop_newest(BlockPool& pool);

  Block* newest_ = nullptr;  // the only block with room; those behind it are full
  // Looked for again only when somebody asks: most slots are drained before that.
  mutable TimePoint earliest_ = TimePoint::max();
  std::uint32_t used_ = 0;  // entries of the newest block
  std::uint32_t number_;
  mutable bool earliest_known_ = true;
};

inline void Slot::add(Entry entry, BlockPool& pool) {
  if (empty() || used_ == Block::kCapacity) {
    Block& block = pool.take();
    block.next = std::exchange(newest_, &block);
    used_ = 0;
  }
  entry.timer->block_ = newest_;
  entry.timer->index_ = used_;
  entry.timer->slot_ = number_;
  earliest_ = std::min(earliest_, entry.due);
  newest_->entries[used_++] = entry;
}

inline void Slot::remove(Timer& timer, BlockPool& pool) {
  invariant(timer.slot_ == number_, "a timer is removed from the slot it is in");
  Entry& hole = timer.block_->entries[timer.index_];
  if (hole.due == earliest_) earliest_known_ = false;

  const Entry last = newest_->entries[used_ - 1];
  hole = last;
  last.timer->block_ = timer.block_;
  last.timer->index_ = timer.index_;

  timer.block_ = nullptr;
  if (--used_ == 0) drop_newest(pool);
}

}  // namespace recourse::timing
