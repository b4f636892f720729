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

}  // namespace recourse::task
