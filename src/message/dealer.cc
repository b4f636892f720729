#include "message/dealer.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "base/invariant.h"
#include "policy/failure.h"

namespace recourse::message {
namespace {

constexpr Duration kDealPauseMin = std::chrono::milliseconds(100);
constexpr Duration kDealPauseMax = std::chrono::seconds(5);

}  // namespace

Dealer::Dealer(Deal deal, Duration refused_pause, HandOff& hand_off, FeederBoard& board,
               std::function<void()> decided)
    : deal_(std::move(deal)),
      refused_pause_(refused_pause),
      hand_off_(hand_off),
      board_(board),
      decided_(std::move(decided)) {}

void Dealer::run(const std::stop_token& stop) {
  while (std::optional<std::vector<Message>> batch = hand_off_.take()) {
    deal_with(*std::move(batch), stop);
    hand_off_.finish();
    decided_();
  }
}

void Dealer::deal_with(std::vector<Message> batch, const std::stop_token& stop) {
  Duration pause = Duration::zero();
  while (true) {
    const std::size_t before = batch.size();
    batch = deal_once(std::move(batch), stop);
    if (batch.empty()) return;
    const bool went_on = batch.size() < before;
    pause = went_on ? kDealPauseMin : std::clamp(pause * 2, kDealPauseMin, kDealPauseMax);
    if (hand_off_.closed_within(pause)) return;
  }
}

std::vector<Message> Dealer::deal_once(std::vector<Message> batch, const std::stop_token& stop) {
  const Result<std::vector<Dealing>> dealings = ask(batch, stop);
  if (!dealings) {
    board_.deal_failed(dealings.error());
    return batch;
  }
  invariant(dealings->size() == batch.size(), "every message of a batch is dealt with");
  std::vector<DueVerdict> verdicts;
  std::vector<Message> again;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Ticket ticket = batch[i].ticket;
    switch ((*dealings)[i]) {
      case Dealing::kDone: verdicts.push_back({.verdict = {ticket, Fate::kDone}}); break;
      case Dealing::kNotYet: again.push_back(std::move(batch[i])); break;
      case Dealing::kRefused: board_.refused(1); [[fallthrough]];
      case Dealing::kRefusedAgain:
        verdicts.push_back({.verdict = {ticket, Fate::kGiveBack},
                            .from = std::chrono::steady_clock::now() + refused_pause_});
        break;
    }
  }
  if (again.empty()) {
    board_.deal_worked();
  } else if (!stop.stop_requested()) {
    board_.deal_failed(
        {ErrorCode::kUnavailable, "messages could not be recorded yet, and are tried again"});
  }
  hand_off_.decide(verdicts);
  if (!verdicts.empty()) decided_();
  return again;
}

Result<std::vector<Dealing>> Dealer::ask(const std::vector<Message>& batch,
                                         const std::stop_token& stop) const {
  try {
    return deal_(batch, stop);
  } catch (...) {
    // Nothing was decided, so nothing is acknowledged.
    const policy::FailureText thrown = policy::describe(policy::Thrown{std::current_exception()});
    return fail(ErrorCode::kUnavailable, thrown.type + ": " + thrown.message);
  }
}

}  // namespace recourse::message
