// The whole store as plain containers: the model that the SQL backends are held against.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "store/cases.h"
#include "store/history.h"
#include "store/node.h"
#include "store/reader.h"
#include "store/transaction.h"
#include "task/ids.h"
#include "task/record.h"

namespace recourse::store::memory {

class Data {
 public:
  // Kind, smaller priorities later, when, id: the order in which tasks are claimed.
  using DueKey = std::tuple<task::Kind, int, TimePoint, task::TaskId>;

  // Writes the row and every index over it.
  void put(task::Task task);
  void erase(task::TaskId id);
  [[nodiscard]] const task::Task* find_live(task::TaskId id) const;
  // Out of the hot rows, into the archive; its unique key is free again.
  void archive(task::Task task, TimePoint expires_at);

  [[nodiscard]] const std::map<task::TaskId, task::Task>& live() const { return live_; }
  [[nodiscard]] const std::set<DueKey>& due() const { return due_; }
  [[nodiscard]] const std::set<std::pair<task::Owner, task::TaskId>>& owned() const {
    return owned_;
  }

  std::map<task::TaskId, Finished> archived;
  std::map<task::Account, task::TaskId> keys;
  std::map<task::TaskId, Case> cases;
  std::map<task::TaskId, std::map<task::Fence, Attempt>> attempts;
  std::map<std::int64_t, AuditEntry> audit;
  std::map<task::TaskId, std::map<std::pair<task::Fence, int>, Note>> notes;
  std::map<task::Incarnation, NodeRow> nodes;
  Counts counts;
  Pauses pauses;
  std::map<std::pair<std::string, std::string>, Record> records;  // by space and name
  std::map<CreateKey, Creation> creations;
  struct Mark {
    Seen seen;
    TimePoint expires_at;
  };
  std::map<MessageKey, Mark> marks;

 private:
  std::map<task::TaskId, task::Task> live_;
  std::set<DueKey> due_;
  std::set<std::pair<task::Owner, task::TaskId>> owned_;
};

}  // namespace recourse::store::memory
