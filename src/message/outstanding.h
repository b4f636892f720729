// What is out: tickets that were given to messages, and what the broker calls them.
//
// A lost connection forgets all of them at once; a number is never given twice, so a verdict from
// before finds nothing.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "message/message.h"

namespace recourse::message {

template <class Place>
class Outstanding {
 public:
  Ticket add(Place place) {
    const std::uint64_t number = ++last_;
    places_.emplace_hint(places_.end(), number, std::move(place));
    return Ticket(number);
  }

  // Empty where it was taken before, or is of a connection that is gone.
  std::optional<Place> take(Ticket ticket) {
    const auto found = places_.find(ticket.value);
    if (found == places_.end()) return std::nullopt;
    std::optional<Place> place(std::move(found->second));
    places_.erase(found);
    return place;
  }

  // How many were forgotten.
  std::size_t clear() {
    const std::size_t count = places_.size();
    places_.clear();
    return count;
  }

  [[nodiscard]] std::size_t size() const { return places_.size(); }
  // By age, the oldest first.
  [[nodiscard]] const std::map<std::uint64_t, Place>& all() const { return places_; }
  template <class Predicate>
  std::size_t erase_if(Predicate gone) {
    return std::erase_if(places_, [&](const auto& entry) { return gone(entry.second); });
  }

 private:
  std::map<std::uint64_t, Place> places_;
  std::uint64_t last_ = 0;
};

}  // namespace recourse::message
