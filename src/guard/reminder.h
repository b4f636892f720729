// Of what somebody is told: a row that waits for a person.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/log.h"
#include "base/time.h"
#include "guard/row.h"
#include "guard/settings.h"
#include "task/ids.h"

namespace recourse::guard {

struct Reminder {
  const GuardSettings& settings;
  task::Kind kind;
  Row row;
  // The same whenever this very reminder is told again, after a failure or a restart.
  std::string id;
  // Of its last run, where this process made it.
  std::string error;
  // Where people say that they have seen to it; empty where nowhere.
  std::string manual_success_route = {};
};

// What became of it.
struct Telling {
  enum class Fate : std::uint8_t {
    kTold,    // or by the settings nobody is to be: asking again changes nothing
    kFailed,  // it reached nobody
    kLater,   // nobody has tried: asking again helps after the wait
  };
  Fate fate;
  // Of kLater; at least for the hold.
  Duration wait = Duration::zero();
};

// Called once, on any thread, within the telling too; it neither blocks nor throws.
using Told = std::function<void(const Telling&)>;
// Neither blocks nor throws.
using Tell = std::function<void(const Reminder&, Told)>;

// Where nobody else is there to be told, who reads the log is: a line, and somebody was told.
void tell_log(Log& log, const Reminder& reminder, const Told& told);

// Of the reminder that comes next.
std::string reminder_id(const GuardSettings& settings, const Row& row);

}  // namespace recourse::guard
