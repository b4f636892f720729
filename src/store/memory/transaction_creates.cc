#include "store/create_rules.h"
#include "store/memory/transaction.h"

namespace recourse::store::memory {

Result<std::optional<Creation>> MemoryTransaction::insert_creation(const CreateAsk& ask) {
  if (data_.creations.contains(ask.key)) return std::optional<Creation>();
  Creation fresh = first_creation(ask, now_);
  written().creations.emplace(ask.key, fresh);
  return std::optional(std::move(fresh));
}

Result<std::optional<Creation>> MemoryTransaction::find_creation(const CreateKey& key) {
  const auto found = data_.creations.find(key);
  if (found == data_.creations.end()) return std::optional<Creation>();
  return std::optional(found->second);
}

Result<std::optional<Creation>> MemoryTransaction::lock_creation(const CreateKey& key) {
  return find_creation(key);
}

Result<> MemoryTransaction::write_creation(const Creation& creation) {
  written().creations.insert_or_assign(creation.key, creation);
  return {};
}

Result<bool> MemoryTransaction::end_creation(const CreateHold& hold, const CreateEnd& end) {
  const auto found = data_.creations.find(hold.key);
  if (found == data_.creations.end() || found->second.fence != hold.fence ||
      found->second.state != CreateState::kProcessing) {
    return false;
  }
  Creation& creation = written().creations.at(hold.key);
  creation.state = end.state;
  creation.value = end.value;
  creation.is_cut = end.is_cut;
  creation.error = end.error;
  return true;
}

Result<std::size_t> MemoryTransaction::delete_creations_before(TimePoint time, std::size_t limit) {
  std::size_t deleted = 0;
  for (auto it = data_.creations.begin(); it != data_.creations.end() && deleted < limit;) {
    const bool is_over = it->second.expires_at <= time;
    it = is_over ? written().creations.erase(it) : std::next(it);
    deleted += is_over ? 1 : 0;
  }
  return deleted;
}

}  // namespace recourse::store::memory
