// What every verb asks of its batch before a backend sees it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/node.h"
#include "store/work.h"

namespace recourse::store {

// For steps that take their items one by one, wherever they lie.
template <class Item>
std::vector<const Item*> pointers_to(std::span<const Item> batch) {
  std::vector<const Item*> pointers;
  pointers.reserve(batch.size());
  for (const Item& item : batch) pointers.push_back(&item);
  return pointers;
}

Result<> check(std::span<const Submission> batch);
Result<> check(const std::vector<const Submission*>& batch);
Result<> check(const ClaimRequest& request);
Result<> check(std::span<const Outcome> batch);
Result<> check(const std::vector<const Outcome*>& batch);
Result<> check(std::span<const Held> batch);
Result<> check(std::span<const Jotting> batch);
Result<> check(const NodeInfo& node);
Result<> check(const task::Kind& kind);
Result<> check_lease(Duration lease_for);
Result<> check(const Selection& which);
Result<> check(const PurgeRequest& request);
// Rows asked for on one page.
Result<> check_page(std::size_t limit);
// A person's or a node's name, as it goes into the audit.
Result<> check_actor(std::string_view by);

// With every free text made fit for a store: one bad byte must not fail a batch of five hundred.
Outcome cleaned(Outcome outcome);
Note cleaned(Note note);

}  // namespace recourse::store
