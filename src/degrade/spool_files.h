// What a spool does to files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace recourse::degrade {

// Closed with its owner.
class FileHandle {
 public:
  FileHandle() = default;
  explicit FileHandle(int descriptor) : descriptor_(descriptor) {}
  FileHandle(FileHandle&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileHandle& operator=(FileHandle&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~FileHandle();

  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

// What stands in a directory of segments.
struct FoundSegments {
  // Their sizes by their numbers.
  std::map<std::uint64_t, std::size_t> sizes;
  // Of the newest, cut off already.
  std::size_t bytes_torn = 0;
  // Of those that were set aside.
  std::size_t bytes_aside = 0;
  std::uint64_t last_number = 0;
};

std::filesystem::path segment_path(const std::filesystem::path& directory, std::uint64_t number);
std::filesystem::path aside_path(const std::filesystem::path& directory, std::uint64_t number);

// Makes the directory where it is missing. kConflict: another process has it.
Result<FileHandle> lock_directory(const std::filesystem::path& directory);
Result<FoundSegments> find_segments(const std::filesystem::path& directory);
// Empty, and there for good.
Result<FileHandle> create_segment(const std::filesystem::path& directory, std::uint64_t number);
// At `offset`, on the disk when it answers. What a failure leaves behind is cut off again.
Result<> write_durably(const FileHandle& file, std::size_t offset, std::string_view bytes);
// To its first `bytes`, on the disk when it answers.
Result<> cut_durably(const std::filesystem::path& path, std::size_t bytes);
Result<std::string> read_whole(const std::filesystem::path& path);
Result<> delete_durably(const std::filesystem::path& path);
Result<> rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace recourse::degrade
