// The part of a feeder that deals with batches, one after the other, on a thread of its own.
#pragma once

#include <functional>
#include <stop_token>
#include <vector>

#include "base/time.h"
#include "message/feeder.h"
#include "message/feeder_board.h"
#include "message/hand_off.h"

namespace recourse::message {

class Dealer {
 public:
  // What it refers to must outlive it. `decided` is called after every decision.
  Dealer(Deal deal, Duration refused_pause, HandOff& hand_off, FeederBoard& board,
         std::function<void()> decided);

  // Until the hand-off is closed.
  void run(const std::stop_token& stop);

 private:
  // What could not be recorded is tried again, in its place: whatever came later waits behind it.
  void deal_with(std::vector<Message> batch, const std::stop_token& stop);
  // Answers those that are to be dealt with again.
  std::vector<Message> deal_once(std::vector<Message> batch, const std::stop_token& stop);
  Result<std::vector<Dealing>> ask(const std::vector<Message>& batch,
                                   const std::stop_token& stop) const;

  const Deal deal_;
  const Duration refused_pause_;
  HandOff& hand_off_;
  FeederBoard& board_;
  const std::function<void()> decided_;
};

}  // namespace recourse::message
