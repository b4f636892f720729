// What the clock on the wall shows in some place: the system's zone files (TZif, RFC 9636), read
// without the C library's one zone for the whole process. GCC 12 has no time zones of its own.
//
// Thread safety: a value that nobody changes.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace recourse {

class TimeZone {
 public:
  // UTC.
  TimeZone();
  // `Asia/Shanghai`, or an offset as `+08:00`. UTC and offsets are known everywhere; others are
  // files of the system.
  static Result<TimeZone> load(std::string_view name);
  // A zone file's bytes. The error says what is wrong with them.
  static Result<TimeZone> parse(std::string_view file);

  // What is added to UTC there, at that moment.
  [[nodiscard]] Duration offset_at(TimePoint moment) const;

 private:
  struct Data;
  explicit TimeZone(std::shared_ptr<const Data> data);

  std::shared_ptr<const Data> data_;
};

}  // namespace recourse
