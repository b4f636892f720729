// One process per file: SQLite's write-ahead log is safe with one writing connection, and the lock
// proves that every other incarnation of a node on this file is dead.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace recourse::sql::sqlite {

class FileLock {
 public:
  // Refused with the other process named, while it lives.
  static Result<FileLock> take(const std::string& path);

  FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileLock& operator=(FileLock&&) = delete;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace recourse::sql::sqlite
