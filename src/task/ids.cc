#include "task/ids.h"

#include "base/public_id.h"

namespace recourse::task {

std::string to_string(const TaskId& id) {
  return recourse::to_string(PublicId{std::string(kTaskIdType), id.value});
}

Result<TaskId> parse_task_id(std::string_view field, std::string_view text) {
  const Result<Ulid> id = parse_public_id(field, text, kTaskIdType);
  if (!id) return fail(id.error());
  return TaskId(*id);
}

namespace {

constexpr std::string_view kWorkerPrefix = "worker:";

std::string text_of(const Incarnation& node) {
  return recourse::to_string(PublicId{std::string(kNodeIdType), node.value});
}

std::string text_of(const WorkerName& worker) { return std::string(kWorkerPrefix) + worker.value; }

}  // namespace

std::string to_string(const Owner& owner) {
  return std::visit([](const auto& who) { return text_of(who); }, owner);
}

Result<Owner> parse_owner(std::string_view text) {
  if (text.starts_with(kWorkerPrefix)) {
    return Owner(WorkerName(std::string(text.substr(kWorkerPrefix.size()))));
  }
  const Result<Ulid> node = parse_public_id("owner", text, kNodeIdType);
  if (!node) return fail(node.error());
  return Owner(Incarnation(*node));
}

}  // namespace recourse::task
