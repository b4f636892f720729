#include "task/ticket_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>

#include "base/text.h"

namespace recourse::task {
namespace {

constexpr char kBetween = '~';

// One number, one spelling: no sign, no zero in front.
std::optional<Fence> parse_fence(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || value < 0 || std::to_string(value) != text) return std::nullopt;
  return Fence(value);
}

}  // namespace

std::string to_string(const NamedTicket& ticket) {
  return fmt::format("{}{}{}{}{}", to_string(ticket.task), kBetween, ticket.ticket.fence.value,
                     kBetween, recourse::to_string(ticket.ticket.lease.value));
}

Result<NamedTicket> parse_ticket(std::string_view field, std::string_view text) {
  const std::size_t first = text.find(kBetween);
  const std::size_t second =
      first == std::string_view::npos ? first : text.find(kBetween, first + 1);
  if (second == std::string_view::npos) {
    return fail(ErrorCode::kInvalid,
                fmt::format("{} must be like tsk_...~7~..., as Recourse-Ticket has it, not {}",
                            field, shown(text)));
  }
  const Result<TaskId> task = parse_task_id(field, text.substr(0, first));
  if (!task) return fail(task.error());
  const std::string_view fence_text = text.substr(first + 1, second - first - 1);
  const std::optional<Fence> fence = parse_fence(fence_text);
  if (!fence) {
    return fail(ErrorCode::kInvalid,
                fmt::format("{} has {} where its fence should be", field, shown(fence_text)));
  }
  const Result<Ulid> lease = parse_ulid(text.substr(second + 1));
  if (!lease) {
    return fail(ErrorCode::kInvalid, fmt::format("{} ends in a lease id that is none: {}", field,
                                                 lease.error().message));
  }
  return NamedTicket{.task = *task, .ticket = {.fence = *fence, .lease = LeaseId(*lease)}};
}

}  // namespace recourse::task
