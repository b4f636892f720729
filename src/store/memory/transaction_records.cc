#include "store/memory/transaction.h"

namespace recourse::store::memory {

Result<std::optional<Record>> MemoryTransaction::lock_record(std::string_view space,
                                                             std::string_view name) {
  const auto found = data_.records.find({std::string(space), std::string(name)});
  if (found == data_.records.end()) return std::optional<Record>();
  return std::optional(found->second);
}

Result<> MemoryTransaction::insert_record(const Record& record) { return write_record(record); }

Result<> MemoryTransaction::write_record(const Record& record) {
  written().records.insert_or_assign({record.space, record.name}, record);
  return {};
}

Result<bool> MemoryTransaction::delete_record(std::string_view space, std::string_view name) {
  return written().records.erase({std::string(space), std::string(name)}) > 0;
}

Result<std::vector<Record>> MemoryTransaction::list_records(std::string_view space,
                                                            std::string_view after,
                                                            std::size_t limit) {
  std::vector<Record> found;
  auto it = data_.records.upper_bound({std::string(space), std::string(after)});
  for (; it != data_.records.end() && it->first.first == space && found.size() < limit; ++it) {
    found.push_back(it->second);
  }
  return found;
}

Result<std::size_t> MemoryTransaction::delete_records_before(TimePoint time, std::size_t limit) {
  std::size_t deleted = 0;
  for (auto it = data_.records.begin(); it != data_.records.end() && deleted < limit;) {
    const std::optional<TimePoint> end = it->second.expires_at;
    const bool is_over = end && *end <= time;
    it = is_over ? written().records.erase(it) : std::next(it);
    deleted += is_over ? 1 : 0;
  }
  return deleted;
}

}  // namespace recourse::store::memory
