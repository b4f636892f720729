#include "store/memory/memory_store.h"

#include <utility>

#include "base/invariant.h"
#include "base/mutex.h"
#include "store/backend.h"
#include "store/batch.h"
#include "store/filter.h"
#include "store/memory/data.h"
#include "store/memory/transaction.h"
#include "store/transactional_cases.h"
#include "store/transactional_creates.h"
#include "store/transactional_inbox.h"
#include "store/transactional_records.h"
#include "store/transactional_store.h"

namespace recourse::store::memory {

class SharedData {
 public:
  Mutex mutex;
  Data data GUARDED_BY(mutex);
};

namespace {

using task::Task;
using task::TaskId;

class MemoryBackend final : public Backend {
 public:
  MemoryBackend(SharedData& shared, const Clock& clock) : shared_(shared), clock_(clock) {}

  Result<> run(Line, Repeat, Duration, FunctionRef<Result<>(Transaction&)> work) override {
    MutexLock lock(shared_.mutex);
    MemoryTransaction transaction(shared_.data, clock_);
    const Result<> ran = work(transaction);
    invariant(ran || !transaction.has_written(), "in memory a verb fails before its first write");
    return ran;
  }

 private:
  SharedData& shared_;
  const Clock& clock_;
};

class MemoryReader final : public Reader {
 public:
  MemoryReader(SharedData& shared, const Clock& clock) : shared_(shared), clock_(clock) {}

  Result<Task> find(TaskId id, Duration) override {
    MutexLock lock(shared_.mutex);
    if (const Task* row = shared_.data.find_live(id)) return *row;
    const auto row = shared_.data.archived.find(id);
    if (row != shared_.data.archived.end()) return row->second.task;
    return fail(ErrorCode::kNotFound, task::to_string(id) + " does not exist");
  }

  Result<TaskPage> list(const Filter& filter, std::optional<TaskId> after, std::size_t limit,
                        Duration) override {
    if (Result<> valid = check_page(limit); !valid) return fail(valid.error());
    MutexLock lock(shared_.mutex);
    std::map<TaskId, const Task*, std::greater<>> found;
    const auto consider = [&](const Task& task) {
      if ((!after || task.id < *after) && matches(filter, task)) found.emplace(task.id, &task);
    };
    for (const auto& [id, task] : shared_.data.live()) consider(task);
    for (const auto& [id, row] : shared_.data.archived) consider(row.task);
    TaskPage page;
    for (const auto& [id, task] : found) {
      if (page.tasks.size() == limit) {
        page.next = page.tasks.back().id;
        break;
      }
      page.tasks.push_back(*task);
    }
    return page;
  }

  Result<std::vector<Attempt>> attempts(TaskId id, Duration) override {
    MutexLock lock(shared_.mutex);
    std::vector<Attempt> kept;
    const auto of_task = shared_.data.attempts.find(id);
    if (of_task == shared_.data.attempts.end()) return kept;
    for (const auto& [number, attempt] : of_task->second) kept.push_back(attempt);
    return kept;
  }

  Result<std::vector<Note>> notes(TaskId id, Duration) override {
    MutexLock lock(shared_.mutex);
    std::vector<Note> kept;
    const auto of_task = shared_.data.notes.find(id);
    if (of_task == shared_.data.notes.end()) return kept;
    for (const auto& [key, note] : of_task->second) kept.push_back(note);
    return kept;
  }

  Result<AuditPage> audit(std::optional<TaskId> id, std::optional<std::int64_t> after,
                          std::size_t limit, Duration) override {
    if (Result<> valid = check_page(limit); !valid) return fail(valid.error());
    MutexLock lock(shared_.mutex);
    AuditPage page;
    const auto& audit = shared_.data.audit;
    auto it = after ? audit.lower_bound(*after) : audit.end();
    std::int64_t last = 0;
    while (it != audit.begin()) {
      --it;
      if (id && it->second.task != *id) continue;
      if (page.entries.size() == limit) {
        page.next = last;
        break;
      }
      last = it->first;
      page.entries.push_back(it->second);
    }
    return page;
  }

  Result<Counts> counts(Duration) override {
    MutexLock lock(shared_.mutex);
    Counts counts = shared_.data.counts;
    std::erase_if(counts, [](const auto& entry) { return entry.second == 0; });
    return counts;
  }

  Result<Backlog> backlog(const task::Kind& kind, Duration) override {
    MutexLock lock(shared_.mutex);
    MemoryTransaction look(shared_.data, clock_);
    const auto due = look.due_candidates(kind, ShardRange{}, kBacklogCountMax + 1);
    Backlog backlog{.due = std::min(due->size(), kBacklogCountMax),
                    .more = due->size() > kBacklogCountMax,
                    .oldest_due = std::nullopt};
    for (const Candidate& candidate : *due) {
      if (!backlog.oldest_due || candidate.available_at < *backlog.oldest_due) {
        backlog.oldest_due = candidate.available_at;
      }
    }
    return backlog;
  }

  Result<std::vector<NodeRow>> nodes(Duration) override {
    MutexLock lock(shared_.mutex);
    std::vector<NodeRow> rows;
    for (const auto& [incarnation, row] : shared_.data.nodes) rows.push_back(row);
    return rows;
  }

  Result<Pauses> pauses(Duration) override {
    MutexLock lock(shared_.mutex);
    return shared_.data.pauses;
  }

  Result<std::vector<Held>> held_by(const task::Owner& owner, std::optional<TaskId> after,
                                    std::size_t limit, Duration) override {
    if (Result<> valid = check_page(limit); !valid) return fail(valid.error());
    MutexLock lock(shared_.mutex);
    std::vector<Held> held;
    const auto& owned = shared_.data.owned();
    auto it = after ? owned.upper_bound({owner, *after}) : owned.lower_bound({owner, TaskId()});
    for (; it != owned.end() && it->first == owner && held.size() < limit; ++it) {
      held.push_back({.task = it->second, .ticket = shared_.data.find_live(it->second)->ticket});
    }
    return held;
  }

 private:
  SharedData& shared_;
  const Clock& clock_;
};

class MemoryCreates final : public TransactionalCreates {
 public:
  using TransactionalCreates::TransactionalCreates;

  Result<> transact(Duration, FunctionRef<Result<>(Guest&)>) override {
    return fail(ErrorCode::kInvalid,
                "a store in memory has no transactions for others: open an SQLite file");
  }
  Result<Acquired> create(const CreateAsk& ask, Duration within, CreateWork work) override {
    return create_alone(ask, within, work);
  }
};

class MemoryStore final : public OpenedStore {
 public:
  MemoryStore(std::shared_ptr<SharedData> shared, const Clock& clock, Retention retention)
      : shared_(std::move(shared)),
        backend_(*shared_, clock),
        store_(backend_, retention),
        reader_(*shared_, clock),
        records_(backend_),
        cases_(backend_),
        creates_(backend_),
        inbox_(backend_, std::move(retention)) {}

  Store& store() override { return store_; }
  Reader& reader() override { return reader_; }
  Records& records() override { return records_; }
  Cases& cases() override { return cases_; }
  Creates& creates() override { return creates_; }
  Inbox& inbox() override { return inbox_; }

 private:
  std::shared_ptr<SharedData> shared_;
  MemoryBackend backend_;
  TransactionalStore store_;
  MemoryReader reader_;
  TransactionalRecords records_;
  TransactionalCases cases_;
  MemoryCreates creates_;
  TransactionalInbox inbox_;
};

}  // namespace

void leave_case(SharedData& data, Case one) {
  const MutexLock lock(data.mutex);
  data.data.cases.insert_or_assign(one.task, std::move(one));
}

std::shared_ptr<SharedData> make_data() { return std::make_shared<SharedData>(); }

std::unique_ptr<OpenedStore> open(std::shared_ptr<SharedData> data, const Clock& clock,
                                  Retention retention) {
  return std::make_unique<MemoryStore>(std::move(data), clock, std::move(retention));
}

}  // namespace recourse::store::memory
