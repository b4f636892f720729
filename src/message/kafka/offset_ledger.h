// What of one partition has been decided. Kafka keeps one number for a group and a partition: all
// before it is done. So that number may only grow up to the first message that is undecided,
// however many behind it are done.
//
// Invariants
//   1. Every offset before to_commit() is done, or was never there.
//   2. An offset that is out, or done, is not delivered again; one that was given back is.
//
// Pure. Thread safety: none.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

namespace recourse::message::kafka {

using Offset = std::int64_t;

class OffsetLedger {
 public:
  enum class Delivery : std::uint8_t { kFirst, kAgain, kSkip };
  // What to do with a message that the broker sent.
  Delivery deliver(Offset offset);

  void done(Offset offset) { out_.erase(offset); }
  void give_back(Offset offset);

  // Where to read from again, for what was given back; empty: nowhere.
  [[nodiscard]] std::optional<Offset> to_seek() const;
  void sought() { is_seek_due_ = false; }

  // All before it is decided; empty where that is not more than what was committed.
  [[nodiscard]] std::optional<Offset> to_commit() const;
  void committed(Offset offset) { committed_ = offset; }

 private:
  [[nodiscard]] std::optional<Offset> first_undecided() const;

  std::set<Offset> out_;
  // Given back and not yet delivered again.
  std::set<Offset> waiting_;
  bool is_seek_due_ = false;
  // Behind the last that was ever delivered.
  Offset end_ = -1;
  Offset committed_ = -1;
};

}  // namespace recourse::message::kafka
