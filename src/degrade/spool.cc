#include "degrade/spool.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/field_checks.h"
#include "degrade/frame.h"

namespace recourse::degrade {

Result<> validate(const SpoolSettings& settings) {
  return FieldChecks("spool")
      .require(!settings.directory.empty(), "directory", "must be given")
      .between("bytes_max", settings.bytes_max, kSpoolBytesMin, std::size_t{1} << 40)
      .between("segment_bytes", settings.segment_bytes, std::size_t{1}, settings.bytes_max)
      .result();
}

namespace {

// Who died while writing was answered by nobody: what it left of a frame is no record.
Result<> cut_torn_end(const std::filesystem::path& directory, FoundSegments& found) {
  if (found.sizes.empty()) return {};
  auto& [number, size] = *found.sizes.rbegin();
  const auto path = segment_path(directory, number);
  const auto file = read_whole(path);
  if (!file) return fail(file.error());
  found.bytes_torn = read_frames(*file).torn;
  if (found.bytes_torn == 0) return {};
  size = file->size() - found.bytes_torn;
  return cut_durably(path, size);
}

}  // namespace

Result<std::unique_ptr<Spool>> Spool::open(const SpoolSettings& settings) {
  if (Result<> valid = validate(settings); !valid) return fail(valid.error());
  auto lock = lock_directory(settings.directory);
  if (!lock) return fail(lock.error());
  auto found = find_segments(settings.directory);
  if (!found) return fail(found.error());
  if (Result<> cut = cut_torn_end(settings.directory, *found); !cut) return fail(cut.error());
  return std::unique_ptr<Spool>(new Spool(settings, *std::move(lock), *found));
}

Spool::Spool(SpoolSettings settings, FileHandle lock, const FoundSegments& found)
    : settings_(std::move(settings)), lock_(std::move(lock)), torn_bytes_(found.bytes_torn) {
  bytes_ = found.bytes_aside;
  last_number_ = found.last_number;
  for (const auto& [number, size] : found.sizes) {
    sealed_.push_back({.number = number, .bytes = size});
    bytes_ += size;
  }
}

Result<> Spool::append(std::string_view record) {
  const std::string frame = to_frame(record);
  MutexLock lock(mutex_);
  if (bytes_ + gathering_->frames.size() + frame.size() > settings_.bytes_max) {
    return fail(ErrorCode::kExhausted,
                fmt::format("the spool {} is full ({} of {} bytes): bring the store back, which "
                            "empties it, or allow it more bytes",
                            settings_.directory.string(), bytes_, settings_.bytes_max));
  }
  const std::shared_ptr<Group> group = gathering_;
  group->frames += frame;
  while (!group->ended) {
    if (flushing_) {
      changed_.wait(mutex_);
    } else {
      flush();
    }
  }
  return group->result;
}

void Spool::flush() {
  const std::shared_ptr<Group> group = std::exchange(gathering_, std::make_shared<Group>());
  flushing_ = true;
  if (newest_.is_open() && newest_segment_.bytes >= settings_.segment_bytes) seal_newest();
  if (!newest_.is_open()) newest_segment_ = {.number = ++last_number_, .bytes = 0};
  // Counted from here on, so that those who gather meanwhile leave room for it.
  bytes_ += group->frames.size();
  mutex_.unlock();
  Result<> written = write_out(group->frames);
  mutex_.lock();
  if (written) {
    newest_segment_.bytes += group->frames.size();
  } else {
    bytes_ -= group->frames.size();
    // What the disk has of it now is anybody's guess: the next flush begins a new file.
    seal_newest();
  }
  group->result = std::move(written);
  group->ended = true;
  flushing_ = false;
  changed_.notify_all();
}

Result<> Spool::write_out(std::string_view frames) {
  if (!newest_.is_open()) {
    auto created = create_segment(settings_.directory, newest_segment_.number);
    if (!created) return fail(created.error());
    newest_ = *std::move(created);
  }
  return write_durably(newest_, newest_segment_.bytes, frames);
}

void Spool::seal_newest() {
  if (newest_.is_open()) sealed_.push_back(newest_segment_);
  newest_ = FileHandle();
}

Result<std::optional<Spool::Batch>> Spool::oldest() {
  Segment segment;
  {
    MutexLock lock(mutex_);
    while (flushing_) changed_.wait(mutex_);
    if (sealed_.empty()) seal_newest();
    if (sealed_.empty()) return std::optional<Batch>();
    segment = sealed_.front();
  }
  const auto file = read_whole(segment_path(settings_.directory, segment.number));
  if (!file) return fail(file.error());
  // What stands behind it is of a write that failed, and whose callers were told so.
  FramesRead read = read_frames(std::string_view(*file).substr(0, segment.bytes));
  const std::size_t missing = segment.bytes - std::min(segment.bytes, file->size());
  return std::optional(Batch{.segment = segment.number,
                             .records = std::move(read.records),
                             .damaged = read.damaged + read.torn + missing});
}

void Spool::gone(std::uint64_t segment) {
  const auto found = std::ranges::find(sealed_, segment, &Segment::number);
  if (found != sealed_.end()) sealed_.erase(found);
}

Result<> Spool::finish(const Batch& batch) {
  Result<> deleted = delete_durably(segment_path(settings_.directory, batch.segment));
  if (!deleted) return deleted;
  MutexLock lock(mutex_);
  const auto found = std::ranges::find(sealed_, batch.segment, &Segment::number);
  if (found != sealed_.end()) bytes_ -= found->bytes;
  gone(batch.segment);
  return {};
}

Result<> Spool::set_aside(const Batch& batch) {
  Result<> renamed = rename_durably(segment_path(settings_.directory, batch.segment),
                                    aside_path(settings_.directory, batch.segment));
  if (!renamed) return renamed;
  MutexLock lock(mutex_);
  gone(batch.segment);
  return {};
}

bool Spool::empty() const {
  MutexLock lock(mutex_);
  // The newest file belongs to whoever flushes.
  return !flushing_ && sealed_.empty() && !newest_.is_open();
}

std::size_t Spool::bytes() const {
  MutexLock lock(mutex_);
  return bytes_;
}

}  // namespace recourse::degrade
