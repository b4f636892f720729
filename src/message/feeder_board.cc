#include "message/feeder_board.h"

#include <utility>

namespace recourse::message {

void FeederBoard::change(std::string FeederBoard::*trouble, const Error* error,
                         std::string_view failed, std::string_view well) {
  {
    const MutexLock lock(mutex_);
    if (error != nullptr) ++figures_.errors;
    std::string now = error != nullptr ? error->message : std::string();
    if (this->*trouble == now) return;
    this->*trouble = std::move(now);
  }
  if (error != nullptr) {
    log_.warning(failed, {{"source", source_}, {"error", error->message}});
  } else {
    log_.info(well, {{"source", source_}});
  }
}

void FeederBoard::broker_failed(const Error& error) {
  {
    const MutexLock lock(mutex_);
    figures_.connected = false;
  }
  change(&FeederBoard::broker_trouble_, &error, "message_source_failed", "");
}

void FeederBoard::broker_answered() {
  {
    const MutexLock lock(mutex_);
    figures_.connected = true;
  }
  change(&FeederBoard::broker_trouble_, nullptr, "", "message_source_back");
}

void FeederBoard::deal_failed(const Error& error) {
  change(&FeederBoard::deal_trouble_, &error, "messages_not_recorded", "");
}

void FeederBoard::deal_worked() {
  change(&FeederBoard::deal_trouble_, nullptr, "", "messages_recorded_again");
}

void FeederBoard::set_full(bool is_full) {
  const MutexLock lock(mutex_);
  figures_.is_full = is_full;
}

void FeederBoard::received(std::size_t count, TimePoint now) {
  const MutexLock lock(mutex_);
  figures_.received += count;
  figures_.last_received_at = now;
}

void FeederBoard::acknowledged(std::size_t count) {
  const MutexLock lock(mutex_);
  figures_.acknowledged += count;
}

void FeederBoard::given_back(std::size_t count) {
  const MutexLock lock(mutex_);
  figures_.given_back += count;
}

void FeederBoard::refused(std::size_t count) {
  const MutexLock lock(mutex_);
  figures_.refused += count;
}

FeederFigures FeederBoard::figures() const {
  const MutexLock lock(mutex_);
  FeederFigures figures = figures_;
  figures.trouble = !deal_trouble_.empty() ? deal_trouble_ : broker_trouble_;
  if (figures.trouble.empty() && figures.is_full) {
    figures.trouble = "too much waits already: nothing is taken from the broker for now";
  }
  return figures;
}

}  // namespace recourse::message
