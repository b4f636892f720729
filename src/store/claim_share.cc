#include "store/claim_share.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace recourse::store {
namespace {

bool older(const Candidate& left, const Candidate& right) {
  return std::pair(left.available_at, left.task) < std::pair(right.available_at, right.task);
}

std::vector<task::TaskId> first_of(const std::vector<Candidate>& candidates, std::size_t limit) {
  std::vector<task::TaskId> picked;
  for (const Candidate& candidate : candidates) {
    if (picked.size() == limit) break;
    picked.push_back(candidate.task);
  }
  return picked;
}

}  // namespace

std::vector<task::TaskId> pick_oldest(std::vector<Candidate> candidates, std::size_t limit) {
  std::ranges::sort(candidates, older);
  return first_of(candidates, limit);
}

std::vector<Candidate> in_turns(std::vector<Candidate> candidates, std::size_t limit,
                                std::map<task::Tenant, std::size_t> taken) {
  std::ranges::sort(candidates, older);
  std::vector<std::pair<std::size_t, std::size_t>> order;  // (turn, age)
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    order.emplace_back(taken[candidates[i].tenant]++, i);
  }
  std::ranges::sort(order);
  std::vector<Candidate> first;
  for (const auto& [turn, i] : order) {
    if (first.size() == limit) break;
    first.push_back(candidates[i]);
  }
  return first;
}

std::vector<task::TaskId> pick_fairly(std::vector<Candidate> candidates, std::size_t limit,
                                      std::size_t tenant_max) {
  std::ranges::sort(candidates, older);
  std::map<std::pair<int, task::Tenant>, std::size_t> of_tenant;
  std::vector<std::size_t> turns(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    turns[i] = of_tenant[{candidates[i].priority, candidates[i].tenant}]++;
  }
  const auto rank = [&](std::size_t i) {
    const bool beyond = turns[i] >= tenant_max;
    return std::tuple(beyond, -candidates[i].priority, beyond ? 0 : turns[i], i);
  };
  std::vector<std::size_t> indices(candidates.size());
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = i;
  std::ranges::sort(indices, {}, rank);
  std::vector<task::TaskId> picked;
  for (const std::size_t i : indices) {
    if (picked.size() == limit) break;
    picked.push_back(candidates[i].task);
  }
  return picked;
}

}  // namespace recourse::store
