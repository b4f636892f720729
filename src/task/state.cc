#include "task/state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace recourse::task {

Result<State> try_move(State from, Move move) {
  if (const std::optional<State> to = next_state(from, move)) return *to;
  std::vector<std::string_view> possible;
  for (const Edge& edge : kEdges) {
    if (edge.from == from && is_control(edge.move)) possible.push_back(to_string(edge.move));
  }
  return fail(
      ErrorCode::kConflict,
      fmt::format("cannot {} a task that is {}; possible: {}", to_string(move), to_string(from),
                  possible.empty() ? "nothing, it is finished"
                                   : fmt::format("{}", fmt::join(possible, ", "))));
}

}  // namespace recourse::task
