// Marks of messages, written once over a Backend's transactions.
#pragma once

#include <utility>

#include "store/backend.h"
#include "store/inbox.h"
#include "store/retention.h"

namespace recourse::store {

class TransactionalInbox : public Inbox {
 public:
  TransactionalInbox(Backend& backend, Retention retention)
      : backend_(backend), retention_(std::move(retention)) {}

  Result<std::vector<std::optional<Seen>>> look_up(std::span<const MessageKey> keys,
                                                   Duration within) final;
  Result<std::vector<Marked>> mark(std::span<const Dealt> batch, Duration within) final;
  Result<std::size_t> forget(std::span<const MessageKey> keys, Duration within) final;
  Result<std::size_t> sweep(std::size_t limit, Duration within) final;

 protected:
  // Of keys that were checked. A backend that can read outside of a transaction does.
  virtual Result<std::vector<std::optional<Seen>>> find(std::span<const MessageKey> keys,
                                                        Duration within);

 private:
  Backend& backend_;
  const Retention retention_;
};

}  // namespace recourse::store
