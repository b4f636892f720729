// How a claim is divided: what goes by priority, what by age, and how tenants share.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "store/transaction.h"
#include "store/work.h"

namespace recourse::store {

// Of a quota: a tenth over time, so that no priority starves another. `turn` counts the claims;
// quotas below ten have their share in some turns and none in others.
constexpr int oldest_share(int limit, std::uint32_t turn) {
  const std::int64_t before = std::int64_t{limit} * (turn % 10) / 10;
  const std::int64_t after = std::int64_t{limit} * (turn % 10 + 1) / 10;
  return static_cast<int>(after - before);
}

// Tenants in turns, those who have least first, whatever the priority.
std::vector<Candidate> in_turns(std::vector<Candidate> candidates, std::size_t limit,
                                std::map<task::Tenant, std::size_t> taken);

// The oldest of any priority.
std::vector<task::TaskId> pick_oldest(std::vector<Candidate> candidates, std::size_t limit);

// Larger priorities first; within one, tenants take turns until each has `tenant_max` of it. What
// is left after that is filled up by priority and age: nobody is held back while there is room.
std::vector<task::TaskId> pick_fairly(std::vector<Candidate> candidates, std::size_t limit,
                                      std::size_t tenant_max);

}  // namespace recourse::store
