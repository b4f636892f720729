// What is known of a feeder: figures, and troubles that are told once each time they change.
//
// Thread safety: safe to use from any thread.
#pragma once

#include <cstddef>
#include <string>

#include "base/log.h"
#include "base/mutex.h"
#include "base/result.h"
#include "message/feeder.h"

namespace recourse::message {

class FeederBoard {
 public:
  // The log must outlive it.
  FeederBoard(std::string source, Log& log) : source_(std::move(source)), log_(log) {}

  void broker_failed(const Error& error);
  void broker_answered();
  void deal_failed(const Error& error);
  void deal_worked();
  void set_full(bool is_full);

  void received(std::size_t count, TimePoint now);
  void acknowledged(std::size_t count);
  void given_back(std::size_t count);
  void refused(std::size_t count);

  [[nodiscard]] FeederFigures figures() const;

 private:
  // Tells of it where it is news.
  void change(std::string FeederBoard::*trouble, const Error* error, std::string_view failed,
              std::string_view well) EXCLUDES(mutex_);

  const std::string source_;
  Log& log_;
  mutable Mutex mutex_;
  FeederFigures figures_ GUARDED_BY(mutex_);
  // Empty: none.
  std::string broker_trouble_ GUARDED_BY(mutex_);
  std::string deal_trouble_ GUARDED_BY(mutex_);
};

}  // namespace recourse::message
