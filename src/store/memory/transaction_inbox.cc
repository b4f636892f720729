#include "store/memory/transaction.h"

namespace recourse::store::memory {

Result<std::vector<std::optional<Seen>>> MemoryTransaction::find_marks(
    std::span<const MessageKey> keys) {
  std::vector<std::optional<Seen>> seen;
  seen.reserve(keys.size());
  for (const MessageKey& key : keys) {
    const auto found = data_.marks.find(key);
    seen.push_back(found == data_.marks.end() ? std::nullopt : std::optional(found->second.seen));
  }
  return seen;
}

Result<std::vector<bool>> MemoryTransaction::insert_marks(std::span<const NewMark> marks) {
  std::vector<bool> fresh;
  fresh.reserve(marks.size());
  for (const NewMark& mark : marks) {
    const Data::Mark made{.seen = {.task = mark.task},
                          .expires_at = saturating_add(now_, mark.keep_for)};
    fresh.push_back(written().marks.try_emplace(*mark.key, made).second);
  }
  return fresh;
}

Result<std::size_t> MemoryTransaction::delete_marks(std::span<const MessageKey> keys) {
  std::size_t deleted = 0;
  for (const MessageKey& key : keys) deleted += written().marks.erase(key);
  return deleted;
}

Result<std::size_t> MemoryTransaction::delete_marks_before(TimePoint time, std::size_t limit) {
  std::size_t deleted = 0;
  for (auto it = data_.marks.begin(); it != data_.marks.end() && deleted < limit;) {
    const bool is_over = it->second.expires_at <= time;
    it = is_over ? written().marks.erase(it) : std::next(it);
    deleted += is_over ? 1 : 0;
  }
  return deleted;
}

}  // namespace recourse::store::memory
