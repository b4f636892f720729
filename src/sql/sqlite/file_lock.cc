#include "sql/sqlite/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace recourse::sql::sqlite {
namespace {

std::string holder_of(int descriptor) {
  std::array<char, 32> text{};
  const ssize_t size = ::pread(descriptor, text.data(), text.size(), 0);
  if (size <= 0) return "another process";
  return "process " + std::string(text.data(), static_cast<std::size_t>(size));
}

}  // namespace

Result<FileLock> FileLock::take(const std::string& path) {
  const std::string file = path + ".lock";
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) {
    return fail(ErrorCode::kInvalid,
                fmt::format("cannot open {}: {}; check that the directory exists and that this "
                            "user may write there",
                            file, std::strerror(errno)));
  }
  FileLock lock(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    return fail(ErrorCode::kExhausted,
                fmt::format("{} is in use by {}; a SQLite file serves one process: stop the other "
                            "one, talk to it over HTTP, or use PostgreSQL or MariaDB for several",
                            path, holder_of(descriptor)));
  }
  const std::string pid = std::to_string(::getpid());
  // For people only; the lock itself is the kernel's.
  if (::ftruncate(descriptor, 0) != 0 || ::pwrite(descriptor, pid.data(), pid.size(), 0) < 0) {
    return fail(ErrorCode::kUnavailable, fmt::format("cannot write {}: {}; make room on the disk",
                                                     file, std::strerror(errno)));
  }
  return lock;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace recourse::sql::sqlite
