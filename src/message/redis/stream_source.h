// Source over a StreamGroup: see source.h.
#pragma once

#include <set>
#include <vector>

#include "message/link.h"
#include "message/outstanding.h"
#include "message/redis/stream_group.h"

namespace recourse::message::redis {

class StreamSource final : public Source {
 public:
  StreamSource(SourceSettings settings, Address address, Log& log);

  Result<> connect(Deadline deadline) override;
  Result<std::vector<Message>> receive(std::size_t max, Deadline deadline) override;
  Result<Settlement> settle(std::span<const Verdict> verdicts, Deadline deadline) override;
  Result<> publish(std::span<const Outgoing> messages, Deadline deadline) override;
  void interrupt() override { link_.wakeup().wake(); }
  Result<std::size_t> close(Deadline deadline) override;

 private:
  Result<std::vector<Message>> receive_some(std::size_t max, Deadline deadline);
  Error lose_session(const Error& why);

  [[nodiscard]] std::size_t room() const;
  // Adds to the batch what a dead consumer, or one that gave it back, has left.
  Result<> claim(std::size_t max, std::vector<Message>& batch, Deadline deadline);
  void take(std::vector<Entry> entries, bool redelivered, std::vector<Message>& batch);
  // Keeps hold of what is out; forgets what somebody else has taken meanwhile.
  Result<> keep_hold(Deadline deadline);
  Result<> send_verdicts(Deadline deadline);

  const SourceSettings settings_;
  const Address address_;
  Link link_;
  StreamGroup group_;
  Outstanding<EntryId> out_;
  // Decided, and Redis may not have heard of it.
  std::vector<EntryId> done_;
  std::vector<EntryId> given_back_;
  Deadline next_claim_{};
  Deadline next_hold_;
};

}  // namespace recourse::message::redis
