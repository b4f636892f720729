// The small things that a program remembers beside its tasks, each under a name in a space of its
// own: tokens, answers to be replayed, jobs. A record that has expired by the store's clock is as
// good as gone.
//
// Thread safety: safe to call from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace recourse::store {

inline constexpr std::size_t kRecordSpaceBytesMax = 32;
inline constexpr std::size_t kRecordNameBytesMax = 255;
inline constexpr std::size_t kRecordValueBytesMax = std::size_t{64} * 1024;

struct Record {
  std::string space;  // a fixed word of ours
  std::string name;   // any bytes
  std::string value;  // any bytes
  // Raised by one with every write; the first is 1. Not read by add().
  std::int64_t version = 1;
  std::optional<TimePoint> expires_at = std::nullopt;

  friend bool operator==(const Record&, const Record&) = default;
};

struct AddedRecord {
  // True: it is there by this call. False: another was there before, and is shown.
  bool added = false;
  Record record;
};

// For the audit, written with the change that it tells of, or not at all.
struct Deed {
  std::string actor;   // who
  std::string action;  // a fixed word: token_created, token_revoked
  std::string detail;
};

struct RecordPage {
  std::vector<Record> records;  // by name
  std::optional<std::string> next;
};

class Records {
 public:
  virtual ~Records() = default;

  // Of several that add one name, one wins, and the others are shown what it wrote. `lives_for` is
  // by the store's clock; empty: for ever. kInDoubt: it may be there.
  virtual Result<AddedRecord> add(const Record& record, std::optional<Duration> lives_for,
                                  Duration within,
                                  const std::optional<Deed>& deed = std::nullopt) = 0;
  // Only while its version is the one given; answers it as it stands then. kConflict: somebody else
  // was faster. kNotFound: it is gone.
  virtual Result<Record> replace(const Record& record, std::optional<Duration> lives_for,
                                 Duration within) = 0;
  // False: there was none.
  virtual Result<bool> remove(std::string_view space, std::string_view name, Duration within,
                              const std::optional<Deed>& deed = std::nullopt) = 0;
  virtual Result<std::optional<Record>> find(std::string_view space, std::string_view name,
                                             Duration within) = 0;
  virtual Result<RecordPage> list(std::string_view space, std::optional<std::string> after,
                                  std::size_t limit, Duration within) = 0;
  // Deletes up to `limit` that have expired; answers how many.
  virtual Result<std::size_t> sweep(std::size_t limit, Duration within) = 0;
};

}  // namespace recourse::store
