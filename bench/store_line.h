// The two sides of the store benchmark behind one face: our store, and the fastest loop of plain
// SQL on the same tables, which is the limit.
//
// The loop does what a queue written by hand would do: one kind, one priority, no request of a
// person looked at, no counts kept, no answer per task. It keeps what makes a task safe: durable
// commits, a new fence and lease id with each claim, a condition on them where it finishes a task,
// and the same archive row.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "base/ulid.h"
#include "store/work.h"
#include "task/ids.h"

namespace recourse::bench {

// A benchmark has nobody to answer to.
[[noreturn]] inline void give_up(const std::string& why) {
  fmt::print(stderr, "store_bench: {}\n", why);
  std::exit(1);
}
template <class T>
T must(Result<T> result) {
  if (!result) give_up(result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

inline const task::Kind kKind("payment_refund");
inline constexpr int kPriority = 5;
inline constexpr Duration kRetention = std::chrono::hours(24 * 7);
// Of every call.
inline constexpr Duration kPatience = std::chrono::seconds(30);

TimePoint wall_time();
// Every line of the program makes ids of its own.
std::uint64_t new_seed();

// What one thread does, on a connection of its own. Each call is one transaction.
class Line {
 public:
  virtual ~Line() = default;

  // What is born claimed is kept until succeed().
  virtual void insert(std::span<const store::Submission> batch) = 0;
  // Keeps what it got; answers how many.
  virtual std::size_t claim(std::size_t limit) = 0;
  // Finishes the batch that was kept first; answers how many, none when nothing is kept.
  virtual std::size_t succeed() = 0;
};

// One side on a database of its own, which is gone when the side is.
class Side {
 public:
  virtual ~Side() = default;

  virtual std::unique_ptr<Line> line() = 0;
  // As recourse::Engine takes it.
  [[nodiscard]] virtual std::string url() const = 0;
};

// What the loops remember of a claimed task: the ticket, and what a handler needs.
struct LoopTask {
  task::TaskId id;
  std::int64_t fence;
  std::int64_t attempts;
  std::string payload;
  std::string headers;
};
struct LoopBatch {
  Ulid lease;
  std::vector<LoopTask> tasks;
};

class LoopLine : public Line {
 public:
  explicit LoopLine(std::uint64_t seed) : ids_(seed), owner_(ids_.next(wall_time())) {}

  std::size_t succeed() final;

 protected:
  virtual void archive(const LoopBatch& batch) = 0;

  Ulid new_lease() { return ids_.next(wall_time()); }
  [[nodiscard]] const std::string& owner() const { return owner_text_; }
  std::size_t keep(LoopBatch batch);
  void keep_born(std::span<const store::Submission> batch);

 private:
  UlidSequence ids_;
  task::Incarnation owner_;
  std::string owner_text_ = task::to_string(task::Owner(owner_));
  std::deque<LoopBatch> kept_;
};

}  // namespace recourse::bench
