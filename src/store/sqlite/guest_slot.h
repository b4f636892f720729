// How the one writing connection passes from the writer's thread to a guest's and back.
//
// The guest uses it only under the slot's lock. When its time is over the writer takes it back,
// also from a guest that never answers: from then on the guest is refused.
#pragma once

#include <cstdint>
#include <optional>

#include "base/function_ref.h"
#include "base/mutex.h"
#include "base/result.h"
#include "sql/connection.h"
#include "store/transaction.h"

namespace recourse::store::sqlite {

// What a guest is told whose time was over.
Unexpected cut_off();

class GuestSlot {
 public:
  // --- the writer's thread ---
  // Until the guest has left, or the deadline. What was not left in time is kUnavailable.
  Result<> serve(sql::Connection& connection, Transaction& transaction, sql::Deadline deadline);
  // True: it was the guest's, and is not any more. For one that nobody serves.
  bool take_back();
  // There is no turn to come, where there was none.
  void close();
  // --- the guest's thread ---
  // False: it never came.
  bool wait_for_turn();
  // The turn is the guest's own, without anybody who serves it.
  void open(sql::Connection& connection, Transaction& transaction);
  // False: it was taken back before.
  bool leave(Result<> result);
  // kUnavailable once the slot was taken back.
  Result<> use(FunctionRef<Result<>(sql::Connection&, Transaction&)> work);

 private:
  enum class Turn : std::uint8_t { kWriters, kGuests, kLeft, kOver };

  Mutex mutex_;
  ConditionVariable changed_;
  Turn turn_ GUARDED_BY(mutex_) = Turn::kWriters;
  sql::Connection* connection_ GUARDED_BY(mutex_) = nullptr;
  Transaction* transaction_ GUARDED_BY(mutex_) = nullptr;
  Result<> result_ GUARDED_BY(mutex_);
};

}  // namespace recourse::store::sqlite
