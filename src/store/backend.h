// Where transactions come from: connections, retries and deadlines, but no rule.
#pragma once

#include <cstdint>

#include "base/function_ref.h"
#include "base/result.h"
#include "base/time.h"
#include "store/transaction.h"

namespace recourse::store {

enum class Line : std::uint8_t {
  kWork,
  kHeart,    // a connection of its own: a heartbeat never queues behind work
  kWaiting,  // for what waits for somebody else's transaction: work never queues behind it
};

enum class Repeat : std::uint8_t {
  kHarmless,  // a lost reply to COMMIT is resolved by running it all again on a new connection
  kInDoubt,   // ...is answered as kInDoubt
};

class Backend {
 public:
  virtual ~Backend() = default;

  // Runs `work` and commits; an error of `work` rolls everything back and is the answer. Only
  // kConflict (it lost a race) and a connection lost before COMMIT was sent make it run again,
  // until `within` is over; so `work` sets its results from the beginning each time, and never
  // answers kConflict for a reason of its own.
  virtual Result<> run(Line line, Repeat repeat, Duration within,
                       FunctionRef<Result<>(Transaction&)> work) = 0;
};

}  // namespace recourse::store
