// Programs outside that lease work straight from the store: they claim, renew, report, and
// sometimes vanish, so that their leases end and others take over.
#pragma once

#include <string>
#include <vector>

#include "store/work.h"
#include "task/record.h"

namespace recourse::sim {

class World;

class Workers {
 public:
  explicit Workers(World& world) : world_(world) {}

  void begin();
  // Whom a handler called goes on with it: it reports later, too late, or never.
  void lent(const task::Task& task);

 private:
  void claim(const std::string& name);
  void run(const std::string& name, const task::Task& task);
  void record_and_run(const std::string& name, const task::Task& task);
  void renew(const task::Task& task);
  void report(const task::Task& task, task::Move move);
  void end_run(const task::Task& task);

  World& world_;
};

}  // namespace recourse::sim
