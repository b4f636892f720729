#include "task/state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

namespace recourse::task {
namespace {

std::string word_for_people(Move move) {
  std::string word(to_string(move));
  std::ranges::replace(word, '_', ' ');
  return word;
}

}  // namespace

Result<State> try_move(State from, Move move) {
  if (const std::optional<State> to = next_state(from, move)) return *to;
  std::vector<std::string> possible;
  for (const Edge& edge : kEdges) {
    if (edge.from == from && is_control(edge.move)) possible.push_back(word_for_people(edge.move));
  }
  return fail(ErrorCode::kConflict,
              fmt::format("cannot {} a task that is {}; possible: {}", word_for_people(move),
                          to_string(from),
                          possible.empty() ? "nothing, it is finished"
                                           : fmt::format("{}", fmt::join(possible, ", "))));
}

}  // namespace recourse::task
