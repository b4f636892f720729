#include "message/redis/errors.h"

#include <fmt/format.h>

#include "base/text.h"

namespace recourse::message::redis {
namespace {

constexpr std::size_t kErrorWordsMax = 300;

struct Meaning {
  std::string_view word;
  ErrorCode code;
  std::string_view advice;
};
constexpr std::string_view kAboutPassword =
    "check the user and the password in the URL (redis://user:password@host:port/0)";
constexpr Meaning kMeanings[] = {
    {"WRONGPASS", ErrorCode::kInvalid, kAboutPassword},
    {"NOAUTH", ErrorCode::kInvalid, kAboutPassword},
    {"NOPERM", ErrorCode::kInvalid, "the user needs the rights for streams and their groups"},
    {"WRONGTYPE", ErrorCode::kInvalid, "the topic names a key that is no stream; name another"},
    {"MOVED", ErrorCode::kInvalid,
     "the stream is on another node of a cluster; name that one in the URL"},
    {"NOGROUP", ErrorCode::kUnavailable,
     "somebody has deleted the stream or its group; it is made again"},
    {"BUSYGROUP", ErrorCode::kConflict, "somebody has made it before"},
    {"OOM", ErrorCode::kExhausted, "Redis has no memory left; raise maxmemory or trim the streams"},
    {"LOADING", ErrorCode::kUnavailable, "it is starting"},
    {"READONLY", ErrorCode::kUnavailable, "it is a replica; name the primary in the URL"},
    {"MASTERDOWN", ErrorCode::kUnavailable, "it has lost its primary"},
    {"BUSY", ErrorCode::kUnavailable, "it runs a script"},
    {"MISCONF", ErrorCode::kUnavailable, "it cannot write to its disk"},
};

}  // namespace

Error translate(std::string_view error_reply) {
  const std::string_view word = error_reply.substr(0, error_reply.find(' '));
  const std::string words = one_line(error_reply, kErrorWordsMax);
  for (const Meaning& meaning : kMeanings) {
    if (meaning.word != word) continue;
    return {meaning.code, fmt::format("Redis: {}; {}", words, meaning.advice)};
  }
  return {
      ErrorCode::kInvalid,
      fmt::format("Redis refused a command: {}; streams with XAUTOCLAIM need Redis 6.2 or later",
                  words)};
}

}  // namespace recourse::message::redis
