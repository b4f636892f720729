// Waits for a socket, and can be woken by another thread.
#pragma once

#include <memory>

#include "message/broker.h"

namespace recourse::message {

class Wakeup {
 public:
  Wakeup();
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  // Safe from any thread. It is remembered until somebody waits or asks.
  void wake();
  // Forgets the wake it tells of.
  bool woken();

  enum class Cause { kReadable, kWoken, kDeadline };
  // `socket` may be -1: only a wake or the deadline ends it then. A wake stays for woken().
  Cause wait(int socket, Deadline deadline);

 private:
  int event_;
};

}  // namespace recourse::message
