#include "timing/slot.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/invariant.h"

namespace recourse::timing {

Block& BlockPool::take() {
  if (free_ == nullptr) {
    blocks_.push_back(std::make_unique<Block>());
    free_ = blocks_.back().get();
  }
  Block& block = *free_;
  free_ = std::exchange(block.next, nullptr);
  return block;
}

void BlockPool::give_back(Block& block) {
  block.slot = nullptr;
  block.next = std::exchange(free_, &block);
}

void Slot::add(Entry entry, BlockPool& pool) {
  if (empty() || used_ == Block::kCapacity) {
    Block& block = pool.take();
    block.slot = this;
    block.next = std::exchange(newest_, &block);
    used_ = 0;
  }
  entry.timer->block_ = newest_;
  entry.timer->index_ = used_;
  entry.timer->place_ = Timer::Place::kSlot;
  earliest_ = std::min(earliest_, entry.due);
  newest_->entries[used_++] = entry;
}

void Slot::remove(Timer& timer, BlockPool& pool) {
  invariant(timer.place_ == Timer::Place::kSlot && timer.block_->slot == this,
            "a timer is removed from the slot it is in");
  Entry& hole = timer.block_->entries[timer.index_];
  if (hole.due == earliest_) earliest_known_ = false;

  const Entry last = newest_->entries[used_ - 1];
  hole = last;
  last.timer->block_ = timer.block_;
  last.timer->index_ = timer.index_;

  timer.place_ = Timer::Place::kNowhere;
  if (--used_ == 0) drop_newest(pool);
}

void Slot::drop_newest(BlockPool& pool) {
  Block& spent = *newest_;
  newest_ = spent.next;
  used_ = Block::kCapacity;
  pool.give_back(spent);
  if (!empty()) return;
  earliest_ = TimePoint::max();
  earliest_known_ = true;
}

void Slot::drain_into(std::vector<Entry>& entries, BlockPool& pool) {
  while (!empty()) {
    const std::span<const Entry> held(newest_->entries.data(), used_);
    entries.insert(entries.end(), held.begin(), held.end());
    drop_newest(pool);
  }
}

TimePoint Slot::earliest() const {
  if (earliest_known_) return earliest_;
  earliest_ = TimePoint::max();
  std::uint32_t used = used_;
  for (const Block* block = newest_; block != nullptr; block = block->next) {
    for (const Entry& entry : std::span(block->entries.data(), used)) {
      earliest_ = std::min(earliest_, entry.due);
    }
    used = Block::kCapacity;
  }
  earliest_known_ = true;
  return earliest_;
}

}  // namespace recourse::timing
