#include "sim/coverage.h"

#include <fmt/format.h>

#include <numeric>

namespace recourse::sim {
namespace {

// No code takes it yet: what nobody handles, and what is past its deadline, is claimed first.
constexpr bool is_untaken(const task::Edge& edge) {
  return edge.from == task::State::kPending && edge.move == task::Move::kGiveUp;
}

}  // namespace

std::uint64_t Coverage::fault_total() const {
  return std::accumulate(faults.begin(), faults.end(), std::uint64_t{0});
}

void Coverage::count_edge(task::State from, task::Move move, task::State to) {
  for (std::size_t i = 0; i < task::kEdges.size(); ++i) {
    const task::Edge& edge = task::kEdges[i];
    if (edge.from == from && edge.move == move && edge.to == to) ++edges[i];
  }
}

void Coverage::add(const Coverage& other) {
  for (std::size_t i = 0; i < faults.size(); ++i) faults[i] += other.faults[i];
  for (std::size_t i = 0; i < edges.size(); ++i) edges[i] += other.edges[i];
  tasks += other.tasks;
  handler_starts += other.handler_starts;
  adoptions += other.adoptions;
  takeovers += other.takeovers;
  deaths += other.deaths;
  refused += other.refused;
  already_applied += other.already_applied;
  in_doubt += other.in_doubt;
  told += other.told;
  steps += other.steps;
}

std::vector<std::string> Coverage::missing() const {
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    if (faults[i] == 0) missing.emplace_back(to_string(kAllFaults[i]));
  }
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const task::Edge& edge = task::kEdges[i];
    if (edges[i] > 0 || is_untaken(edge)) continue;
    missing.push_back(fmt::format("{} -{}-> {}", task::to_string(edge.from),
                                  task::to_string(edge.move), task::to_string(edge.to)));
  }
  return missing;
}

}  // namespace recourse::sim
