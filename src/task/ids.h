// The names of things, each a type of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "base/strong.h"
#include "base/ulid.h"

namespace recourse::task {

using TaskId = Strong<struct TaskIdTag, Ulid>;

// What kind of work it is; picks the handler and the lane. The sources call it business type.
using Kind = Strong<struct KindTag, std::string>;
using Tenant = Strong<struct TenantTag, std::string>;
using ShardKey = Strong<struct ShardKeyTag, std::string>;
// At most one unfinished task per (tenant, kind, unique key); empty means none was given.
using UniqueKey = Strong<struct UniqueKeyTag, std::string>;

// One start of one process. A restarted node is a stranger to its former self.
using Incarnation = Strong<struct IncarnationTag, Ulid>;
// A program outside that leases work over HTTP, by the name it gives itself.
using WorkerName = Strong<struct WorkerNameTag, std::string>;
// A node's leases end with its incarnation, a worker's at a time of their own.
using Owner = std::variant<Incarnation, WorkerName>;
// Chosen by the claimer before the call is sent; tells a repeated write from a stranger's, also
// where a restored backup made a fence repeat.
using LeaseId = Strong<struct LeaseIdTag, Ulid>;
// Names one step of a task's life: every claim, adoption, outcome and control raises it by one.
using Fence = Strong<struct FenceTag, std::int64_t>;

inline constexpr std::string_view kTaskIdType = "tsk";
inline constexpr std::string_view kNodeIdType = "nod";

// `tsk_01J...`
std::string to_string(const TaskId& id);
Result<TaskId> parse_task_id(std::string_view field, std::string_view text);

// `nod_01J...` for a node, `worker:NAME` for a worker: how owners stand in the database and in
// JSON.
std::string to_string(const Owner& owner);
Result<Owner> parse_owner(std::string_view text);
// The longest spelling.
inline constexpr std::size_t kOwnerBytesMax = 255;

constexpr Fence next(Fence fence) { return Fence(fence.value + 1); }

}  // namespace recourse::task
