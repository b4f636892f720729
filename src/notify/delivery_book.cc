#include "notify/delivery_book.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace recourse::notify {
namespace {

// What is true of one of them alone.
void make_plural(Delivery& delivery) {
  delivery.notice.clear();
  delivery.task.reset();
  delivery.tries = 0;
}

bool is_summed(DeliveryResult result) { return result == DeliveryResult::kSuppressed; }

void make_mixed(DeliveryEntry& entry) {
  make_plural(entry.delivery);
  entry.delivery.kind = {};
  entry.delivery.tenant = {};
  entry.delivery.error.clear();
  entry.mixed = true;
}

}  // namespace

void DeliveryBook::add(const Delivery& delivery) {
  DeliveryEntry entry{.delivery = delivery, .since = delivery.at};
  entry.delivery.error = one_line(delivery.error, settings_.error_characters);
  add(std::move(entry));
}

void DeliveryBook::add(DeliveryEntry entry) {
  if (entry.count > 1 || entry.mixed || is_summed(entry.delivery.result)) {
    return sum_up(std::move(entry));
  }
  listed_.push_back(std::move(entry));
  while (listed_.size() > settings_.listed_max) {
    sum_up(std::move(listed_.front()));
    listed_.pop_front();
  }
}

void DeliveryBook::add(DeliveryBook younger) {
  while (auto entry = younger.take()) add(*std::move(entry));
}

void DeliveryBook::sum_up(DeliveryEntry entry) {
  const Delivery& delivery = entry.delivery;
  Sort sort{.event = delivery.event,
            .kind = delivery.kind.value,
            .tenant = delivery.tenant.value,
            .channel = delivery.channel,
            .error = delivery.error,
            .result = delivery.result,
            .summary = delivery.summary};
  const bool has_room = sums_.contains(sort) || sums_.size() < settings_.sums_max;
  if (!entry.mixed && has_room) return merge(sums_, sort, std::move(entry));
  make_mixed(entry);
  sort.event.reset();
  sort.kind.clear();
  sort.tenant.clear();
  sort.error.clear();
  merge(rest_, sort, std::move(entry));
}

void DeliveryBook::merge(Sums& sums, const Sort& sort, DeliveryEntry entry) {
  const auto [place, is_new] = sums.try_emplace(sort, entry);
  if (is_new) return;
  DeliveryEntry& sum = place->second;
  make_plural(sum.delivery);
  sum.count += entry.count;
  sum.delivery.more += entry.delivery.more;
  sum.delivery.severity = std::max(sum.delivery.severity, entry.delivery.severity);
  sum.delivery.at = std::max(sum.delivery.at, entry.delivery.at);
  sum.since = std::min(sum.since, entry.since);
}

std::optional<DeliveryEntry> DeliveryBook::take() {
  if (!listed_.empty()) {
    DeliveryEntry entry = std::move(listed_.front());
    listed_.pop_front();
    return entry;
  }
  for (Sums* sums : {&sums_, &rest_}) {
    if (sums->empty()) continue;
    return std::move(sums->extract(sums->begin()).mapped());
  }
  return std::nullopt;
}

void DeliveryBook::put_back(DeliveryEntry entry) {
  const bool was_listed = entry.count == 1 && !entry.mixed && !is_summed(entry.delivery.result);
  if (!was_listed || listed_.size() >= settings_.listed_max) return sum_up(std::move(entry));
  listed_.push_front(std::move(entry));
}

std::int64_t DeliveryBook::count() const {
  auto sum = static_cast<std::int64_t>(listed_.size());
  for (const Sums* sums : {&sums_, &rest_}) {
    for (const auto& [sort, entry] : *sums) sum += entry.count;
  }
  return sum;
}

}  // namespace recourse::notify
