#include "timing/slot.h"

#include <span>

namespace recourse::timing {

void BlockPool::grow() {
  blocks_.push_back(std::make_unique<Block[]>(kBlocksPerGrowth));
  for (std::size_t i = kBlocksPerGrowth; i-- > 0;) give_back(blocks_.back()[i]);
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
