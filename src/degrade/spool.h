// Records that the store could not take, kept on disk until it can.
//
// They stand in segments, files that only grow. The oldest is read and, once all of it is in the
// store, deleted as a whole; new records go to the newest. A record is acknowledged when it is on
// the disk: callers who come while a flush is under way share the next one.
//
// Invariants
//   1. What was acknowledged is read again, after whatever crash, until finish() has deleted it.
//      It may be read twice: whoever empties the spool submits under the record's own id.
//   2. All files together have at most `bytes_max` bytes, those that were set aside included.
//   3. One process has the directory; the lock goes with the process.
//   4. Only the newest segment can end in the middle of a write, and that is cut off when the spool
//      is opened. So whatever else is no frame was acknowledged once, and is damage.
//
// Thread safety: append and the questions from any thread; oldest, finish and set_aside from one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "degrade/spool_files.h"

namespace recourse::degrade {

inline constexpr std::size_t kSpoolBytesMin = std::size_t{1024} * 1024;

struct SpoolSettings {
  // Made where it is missing.
  std::filesystem::path directory;
  std::size_t bytes_max = std::size_t{64} * 1024 * 1024;
  // A segment that has grown beyond it is followed by another.
  std::size_t segment_bytes = std::size_t{4} * 1024 * 1024;
};

Result<> validate(const SpoolSettings& settings);

class Spool {
 public:
  // kConflict where another process has the directory.
  static Result<std::unique_ptr<Spool>> open(const SpoolSettings& settings);
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  // On the disk when it answers. kExhausted: full; kUnavailable: the disk refuses. A refused record
  // may be read later all the same, if the disk lied.
  Result<> append(std::string_view record);

  // One segment's worth.
  struct Batch {
    std::uint64_t segment = 0;
    std::vector<std::string> records;
    // Bytes that were acknowledged and cannot be read any more.
    std::size_t damaged = 0;
  };
  // Empty where nothing waits. The same one until it is finished or set aside.
  Result<std::optional<Batch>> oldest();
  Result<> finish(const Batch& batch);
  // Kept for a person, under another name, and not read again.
  Result<> set_aside(const Batch& batch);

  [[nodiscard]] bool empty() const;
  // Of all its files.
  [[nodiscard]] std::size_t bytes() const;
  // Cut off when it was opened: the end of a write during which the process before died.
  [[nodiscard]] std::size_t torn_bytes() const { return torn_bytes_; }
  [[nodiscard]] const std::filesystem::path& directory() const { return settings_.directory; }

 private:
  // Callers who share a flush.
  struct Group {
    std::string frames;
    bool ended = false;
    Result<> result;
  };
  struct Segment {
    std::uint64_t number = 0;
    std::size_t bytes = 0;
  };

  Spool(SpoolSettings settings, FileHandle lock, const FoundSegments& found);

  void flush() REQUIRES(mutex_);
  // To the newest segment, on the disk. Without the lock: only who flushes does it.
  Result<> write_out(std::string_view frames);
  void seal_newest() REQUIRES(mutex_);
  void gone(std::uint64_t segment) REQUIRES(mutex_);

  const SpoolSettings settings_;
  const FileHandle lock_;
  const std::size_t torn_bytes_;
  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::shared_ptr<Group> gathering_ GUARDED_BY(mutex_) = std::make_shared<Group>();
  bool flushing_ GUARDED_BY(mutex_) = false;
  std::deque<Segment> sealed_ GUARDED_BY(mutex_);
  // On the disk and acknowledged, in all files.
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;
  std::uint64_t last_number_ GUARDED_BY(mutex_) = 0;
  // The newest segment; of whoever flushes, and of who seals while nobody does.
  FileHandle newest_;
  Segment newest_segment_;
};

}  // namespace recourse::degrade
