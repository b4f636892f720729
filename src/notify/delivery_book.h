// What became of notices, gathered until it is written down. Pure: no thread, no clock, no store.
//
// What was sent or failed is kept one by one. What was suppressed is summed up by its sort, since
// whoever is flooded by a thousand alike is not helped by a list of them. Where there is no room,
// the oldest give way: first into sums of their sort, then into one for each channel and result.
//
// Invariants
//   1. Whatever is added is counted in exactly one entry: for each channel, result and sort of
//      message, the entries' counts add up to what was added.
//   2. No more entries are held than the settings allow, and one for each channel and result.
//
// Thread safety: none.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "notify/delivery.h"

namespace recourse::notify {

struct DeliveryBookSettings {
  // Kept one by one.
  std::size_t listed_max = 100;
  // Sums of one event, kind, tenant, channel, result and reason.
  std::size_t sums_max = 100;
  // Of an error; what is longer is cut.
  std::size_t error_characters = 300;
};

struct DeliveryEntry {
  // Of a sum: what they have in common, the newest's time, the gravest severity, all that they told
  // of.
  Delivery delivery;
  std::int64_t count = 1;
  // Of the first of them.
  TimePoint since;
  // Of several sorts: it says nothing but the channel and the result.
  bool mixed = false;
};

class DeliveryBook {
 public:
  explicit DeliveryBook(const DeliveryBookSettings& settings = {}) : settings_(settings) {}

  void add(const Delivery& delivery);
  void add(DeliveryEntry entry);
  // All of another book, which is younger.
  void add(DeliveryBook younger);

  // The oldest that is kept one by one; else a sum. It is not held any more.
  std::optional<DeliveryEntry> take();
  // What take() has just given.
  void put_back(DeliveryEntry entry);

  [[nodiscard]] bool empty() const { return listed_.empty() && sums_.empty() && rest_.empty(); }
  [[nodiscard]] std::size_t size() const { return listed_.size() + sums_.size() + rest_.size(); }
  // Deliveries, not entries.
  [[nodiscard]] std::int64_t count() const;

 private:
  struct Sort {
    std::optional<Event> event;
    std::string kind, tenant, channel, error;
    DeliveryResult result;
    bool summary;

    auto operator<=>(const Sort&) const = default;
  };
  using Sums = std::map<Sort, DeliveryEntry>;

  void sum_up(DeliveryEntry entry);
  static void merge(Sums& sums, const Sort& sort, DeliveryEntry entry);

  DeliveryBookSettings settings_;
  std::deque<DeliveryEntry> listed_;  // oldest first
  Sums sums_;
  Sums rest_;
};

}  // namespace recourse::notify
