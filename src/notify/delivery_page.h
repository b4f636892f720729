// What became of notices, as it lies in the store: pages, each a record whose name sorts the newest
// before the others, so that a list of records is a list of pages from now into the past.
#pragma once

#include <boost/json.hpp>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/time.h"
#include "base/ulid.h"
#include "notify/delivery_book.h"

namespace recourse::notify {

inline constexpr std::string_view kDeliverySpace = "delivery";
// A record's value, with room to spare.
inline constexpr std::size_t kDeliveryPageBytesMax = std::size_t{60} * 1024;

// `by` makes it the only one.
std::string delivery_page_name(TimePoint at, const Ulid& by);

// As the API shows it.
boost::json::object to_json(const DeliveryEntry& entry);

// Takes as much out of the book as fits; the newest first in the page. Empty where there is
// nothing.
std::string take_delivery_page(DeliveryBook& book, std::string_view node,
                               std::size_t bytes_max = kDeliveryPageBytesMax);
// The entries of a page, each with its node; none where it is not one of ours.
boost::json::array read_delivery_page(std::string_view text);

}  // namespace recourse::notify
