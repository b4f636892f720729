// The bounds of every call. Beyond them: kInvalid, and nothing changes.
#pragma once

#include <cstddef>

#include "base/time.h"

namespace recourse::store {

inline constexpr std::size_t kBatchRowsMax = 500;
inline constexpr std::size_t kBatchBytesMax = std::size_t{4} * 1024 * 1024;
inline constexpr std::size_t kQuotasMax = 200;
inline constexpr std::size_t kPageRowsMax = 500;
// A page looks at no more rows than this for matches of a filter that no index serves; it may then
// be short, and its cursor goes on from there.
inline constexpr std::size_t kPageLooksMax = 5'000;
inline constexpr std::size_t kPurgeRowsMax = 1'000;
// Attempts kept of one task: the newest.
inline constexpr int kAttemptsKept = 100;
// Notes kept of one task: the newest.
inline constexpr int kNotesKept = 100;
inline constexpr std::size_t kNoteCharactersMax = 1'000;
inline constexpr int kProgressMax = 1'000'000;
// A backlog is counted up to here; beyond it is "more".
inline constexpr std::size_t kBacklogCountMax = 10'000;
// How far a tenant-fair claim looks into the due tasks of one kind and priority.
inline constexpr std::size_t kFairWindow = 1'000;
inline constexpr std::size_t kNodeKindsMax = 10'000;
// What people want of one node's tasks, per heartbeat; the rest comes with the next.
inline constexpr std::size_t kRequestsPerBeat = 1'000;
// A worker's lease: shorter ends before it is answered, longer would keep a dead worker's task from
// everybody.
inline constexpr Duration kLeaseMin = std::chrono::microseconds(1);
inline constexpr Duration kLeaseMax = std::chrono::hours(24);
// Shard keys fall into this many buckets; a claim asks for a range of them.
inline constexpr int kShards = 256;

// An id that is older than this by the store's clock, or younger than nothing, is not taken for
// fresh: the archive is asked whether it has been finished under a repeat. Whoever repeats a submit
// waits for three times as long first.
inline constexpr Duration kFreshFor = std::chrono::seconds(1);

// How long one submit of a batch may wait for another transaction that is about to decide on its
// unique key, before it leaves the batch.
inline constexpr Duration kKeyWait = std::chrono::milliseconds(100);

}  // namespace recourse::store
