// What is said of a case.
#pragma once

#include <string>

#include "notify/notice.h"
#include "store/cases.h"

namespace recourse::notify {

struct Sayer {
  // Who tells.
  std::string node = {};
  // Where people see a task: its id is put behind it. Empty: no link.
  std::string link = {};
};

// Its id is made of the task, the escalation and the reminder's number: the same whoever tells it.
Notice notice_of(const store::DueCase& due, const Sayer& sayer);

}  // namespace recourse::notify
