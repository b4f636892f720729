// Notices that filters held back, until a message tells of them.
//
// Counted per event, kind and the channels they would have gone to: a message must not claim to
// have told of something whose channels it never reached. The newest of each sort is kept whole,
// because it is named where no other message of the sort comes; of the others only the number and
// who waits to hear what became of them.
//
// Thread safety: none; the notifier's lock guards it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "notify/fate.h"
#include "notify/notice.h"

namespace recourse::notify {

struct Sort {
  Event event;
  std::string kind;
  std::vector<std::size_t> channels;

  friend auto operator<=>(const Sort&, const Sort&) = default;
};

class HeldBack {
 public:
  // Of sorts; kinds come from outside.
  static constexpr std::size_t kSortsMax = 1'000;

  struct Tally {
    std::int64_t count = 0;
    // Who asked to hear of theirs.
    std::vector<Ended> ended = {};
    // The last that was added.
    Notice newest = {};
    TimePoint due = {};
  };

  // `ended_max` bounds those who wait, over all sorts.
  explicit HeldBack(std::size_t ended_max) : ended_max_(ended_max) {}

  // False: there is no room, and nothing was changed; its `ended` is left to the caller.
  [[nodiscard]] bool add(const Sort& sort, const Notice& notice, Ended& ended, TimePoint due);
  // What a message of this sort tells of; empty where nothing is held.
  [[nodiscard]] Tally take(const Sort& sort);
  // One whose time has come.
  [[nodiscard]] std::optional<std::pair<Sort, Tally>> take_due(TimePoint now);
  // It may not go out yet after all. Its place is still there.
  void put_back(const Sort& sort, Tally tally, TimePoint due);
  [[nodiscard]] std::optional<std::pair<Sort, Tally>> take_any();

  [[nodiscard]] std::optional<TimePoint> next_due() const;
  [[nodiscard]] std::int64_t count() const { return count_; }

 private:
  using Held = std::map<Sort, Tally>;
  std::pair<Sort, Tally> extract(Held::iterator where);

  const std::size_t ended_max_;
  Held held_;
  std::size_t waiting_ended_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace recourse::notify
