// The commands of one consumer on one stream, each with its answer read. Knows nothing of tickets.
//
// Two connections, because one may be blocked in a read that the other has to end.
//
// Thread safety: none.
#pragma once

#include <string>
#include <vector>

#include "message/redis/connection.h"
#include "message/redis/entries.h"
#include "message/wakeup.h"

namespace recourse::message::redis {

using EntryId = std::string;

class StreamGroup {
 public:
  StreamGroup(const SourceSettings& settings, const Address& address);

  // Makes the stream and its group where they are missing.
  Result<> open(Deadline deadline);
  void close();

  // New ones; waits for the first until `deadline`, or until it is woken.
  Result<std::vector<Entry>> read(std::size_t max, Deadline deadline, Wakeup& wakeup);

  struct Claimed {
    std::vector<Entry> entries;
    std::size_t trimmed = 0;  // gone from the stream before anybody had decided
  };
  // Those that nobody has touched for so long, wherever the last look had ended.
  Result<Claimed> claim(std::size_t max, Deadline deadline);

  Result<> acknowledge(const std::vector<EntryId>& ids, Deadline deadline);
  Result<> give_back(const std::vector<EntryId>& ids, Deadline deadline);
  // As if they had been delivered now.
  Result<> touch(const std::vector<EntryId>& ids, Deadline deadline);
  // Which entries are this consumer's.
  Result<std::vector<EntryId>> mine(std::size_t max, Deadline deadline);
  // Takes this consumer out of the group. Only where it has nothing: Redis would forget that.
  Result<> leave(Deadline deadline);

  Result<> append(std::span<const Outgoing> messages, Deadline deadline);

 private:
  [[nodiscard]] Command claim_command(const std::vector<EntryId>& ids, Duration idle) const;

  const SourceSettings& settings_;
  const Address& address_;
  std::string consumer_;
  std::string idle_ms_;
  std::string claim_from_ = "0-0";
  std::string reader_id_;
  Connection reader_;
  Connection control_;
};

}  // namespace recourse::message::redis
