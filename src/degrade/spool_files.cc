#include "degrade/spool_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <system_error>

namespace recourse::degrade {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSegmentEnding = ".spool";
constexpr std::string_view kAsideEnding = ".aside";
// What fails to be cleaned up must not be cut off by a signal half way.
constexpr mode_t kOwnerOnly = 0600;

Unexpected disk_error(std::string_view what, const fs::path& path, int error) {
  return fail(ErrorCode::kUnavailable, fmt::format("cannot {} {}: {}", what, path.string(),
                                                   std::generic_category().message(error)));
}

// So that a new name, or the lack of one, survives the machine.
Result<> sync_directory(const fs::path& directory) {
  const FileHandle handle(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!handle.is_open() || ::fsync(handle.get()) != 0) {
    return disk_error("write", directory, errno);
  }
  return {};
}

}  // namespace

FileHandle::~FileHandle() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

fs::path segment_path(const fs::path& directory, std::uint64_t number) {
  return directory / fmt::format("{:012}{}", number, kSegmentEnding);
}

fs::path aside_path(const fs::path& directory, std::uint64_t number) {
  return directory / fmt::format("{:012}{}", number, kAsideEnding);
}

Result<FileHandle> lock_directory(const fs::path& directory) {
  std::error_code made;
  fs::create_directories(directory, made);
  if (made) return disk_error("make", directory, made.value());
  const fs::path path = directory / "lock";
  FileHandle lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kOwnerOnly));
  if (!lock.is_open()) return disk_error("open", path, errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) return disk_error("lock", path, errno);
  return fail(ErrorCode::kConflict,
              fmt::format("the spool {} belongs to another process or engine: give each a "
                          "directory of its own",
                          directory.string()));
}

Result<FoundSegments> find_segments(const fs::path& directory) {
  FoundSegments found;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    const std::string ending = at->path().extension().string();
    if (ending != kSegmentEnding && ending != kAsideEnding) continue;
    std::uint64_t number = 0;
    const char* const stop = name.data() + name.size() - ending.size();
    const auto [read_to, bad] = std::from_chars(name.data(), stop, number);
    if (bad != std::errc() || read_to != stop) continue;
    const std::uintmax_t size = at->file_size(error);
    if (error) break;
    found.last_number = std::max(found.last_number, number);
    if (ending == kSegmentEnding) {
      found.sizes[number] = size;
    } else {
      found.bytes_aside += size;
    }
  }
  if (error) return disk_error("read", directory, error.value());
  return found;
}

Result<FileHandle> create_segment(const fs::path& directory, std::uint64_t number) {
  const fs::path path = segment_path(directory, number);
  FileHandle file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerOnly));
  if (!file.is_open()) return disk_error("make", path, errno);
  if (Result<> synced = sync_directory(directory); !synced) return fail(synced.error());
  return file;
}

Result<> write_durably(const FileHandle& file, std::size_t offset, std::string_view bytes) {
  std::size_t written = 0;
  int error = 0;
  while (written < bytes.size() && error == 0) {
    const ssize_t wrote = ::pwrite(file.get(), bytes.data() + written, bytes.size() - written,
                                   static_cast<off_t>(offset + written));
    if (wrote > 0) written += static_cast<std::size_t>(wrote);
    if (wrote < 0 && errno != EINTR) error = errno;
    if (wrote == 0) error = ENOSPC;
  }
  if (error == 0 && ::fdatasync(file.get()) != 0) error = errno;
  if (error == 0) return {};
  // Where even that fails, the checksums tell.
  (void)::ftruncate(file.get(), static_cast<off_t>(offset));
  return fail(ErrorCode::kUnavailable,
              "the spool cannot be written: " + std::generic_category().message(error));
}

Result<> cut_durably(const fs::path& path, std::size_t bytes) {
  const FileHandle file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open() || ::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0 ||
      ::fsync(file.get()) != 0) {
    return disk_error("cut", path, errno);
  }
  return {};
}

Result<std::string> read_whole(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) return disk_error("read", path, errno);
  return bytes;
}

Result<> delete_durably(const fs::path& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return disk_error("delete", path, errno);
  return sync_directory(path.parent_path());
}

Result<> rename_durably(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return disk_error("rename", from, errno);
  return sync_directory(from.parent_path());
}

}  // namespace recourse::degrade
