// What every broker is to the message door: batches come in, a verdict goes out for each message.
//
//   receive ──> message (with a ticket) ──> whoever handles it ──> verdict (with the ticket) ──>
//   settle
//
// Nothing is acknowledged before the caller says so: a message that is neither decided nor given
// back comes again, after a crash of this process too. So a source delivers at least once, and
// telling a repetition is its caller's business, by source, topic and id.
//
// Invariants
//   1. A ticket takes one verdict. Another one, or one that is late, changes nothing and is told.
//   2. No more than `prefetch` messages are out: received and not yet decided.
//   3. A verdict speaks for its own message only: on a broker that counts by offset, a later one
//      never acknowledges an earlier one that is undecided.
//   4. Messages of one key come in the order in which the broker has them, but for those that come
//      again.
//
// Connections are made by the first call that needs one, and again, with a growing pause, after
// they were lost. Every ticket of a lost connection is dropped: its verdict is told as dropped by
// settle, and the broker delivers the message again. A call that found no connection answers
// kUnavailable; calling again is all that its caller has to do. kInvalid and kNotFound (a wrong
// password, no such queue) are tried again too, because somebody may mend them, but they deserve to
// be shown to a person.
//
// Thread safety: one thread at a time calls everything but interrupt(), which any thread may call.
// That thread must come back in time, within a third of `heartbeat`, to receive or settle: brokers
// give messages of a consumer that is silent to somebody else.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/strong.h"
#include "message/message.h"

namespace recourse::message {

using Deadline = std::chrono::steady_clock::time_point;

enum class Fate : std::uint8_t {
  kDone,      // acknowledge: never again
  kGiveBack,  // the broker shall deliver it again, to whoever it likes, soon
};

struct Verdict {
  Ticket ticket;
  Fate fate = Fate::kDone;
};

// What became of a batch of verdicts.
struct Settlement {
  std::size_t accepted = 0;
  // Decided twice, or received on a connection that is gone: the broker delivers them again where
  // it has not heard of an earlier verdict.
  std::vector<Ticket> dropped;
};

class Source {
 public:
  virtual ~Source() = default;

  // Connects now, and says what is wrong; the other calls do it by themselves.
  virtual Result<> connect(Deadline deadline) = 0;

  // Up to `max` messages. Waits for the first until the deadline, and for no further one. Empty
  // when none came, when `prefetch` messages are out, or when it was interrupted. The deadline cuts
  // off connecting too: give it a second at least. `max` may be zero: nothing is taken, and the
  // connection is looked after, for about as long.
  virtual Result<std::vector<Message>> receive(std::size_t max, Deadline deadline) = 0;

  // An error says that the broker may not have heard of some of them: those messages come again. No
  // verdict is to be repeated.
  virtual Result<Settlement> settle(std::span<const Verdict> verdicts, Deadline deadline) = 0;

  // To be replayed, or by tests: durable on the broker before this answers. After an error some of
  // them may be there: kInDoubt where that is so, kUnavailable where none is.
  virtual Result<> publish(std::span<const Outgoing> messages, Deadline deadline) = 0;

  // Ends the receive that waits, or else the next one, early. Safe from any thread.
  virtual void interrupt() = 0;

  // Gives back everything that is undecided and leaves. Answers how many; afterwards nothing but
  // the destructor may be called. Without it the broker finds out by itself, later.
  virtual Result<std::size_t> close(Deadline deadline) = 0;
};

}  // namespace recourse::message
