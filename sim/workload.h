// Who uses the cluster: submitters who do not give up before they are told, people who click, and
// somebody who clears away what is old.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/ulid.h"
#include "engine/core/command.h"
#include "store/work.h"

namespace recourse::sim {

class World;

class Workload {
 public:
  explicit Workload(World& world);

  void begin();
  void begin_quiet();
  void answered(int node, const engine::SubmitAnswer& answer);

 private:
  struct Waiting {
    store::Submission submission;
    int tries = 0;
    // The try that is out.
    engine::SubmitId submit;
  };

  // --- submitters ---
  void submit_one(int number);
  store::Submission draw_submission(int number);
  void send(const task::TaskId& id);
  void send_later(const task::TaskId& id);
  void submit_probes();

  // --- people ---
  void click();
  void click_on(const task::TaskId& id);
  task::Order draw_order();
  void set_kind_paused(const task::Kind& kind, bool paused, int tries);
  void purge();

  World& world_;
  // What people want of a kind by now.
  std::map<task::Kind, bool> wished_paused_;
  UlidSequence ids_;
  std::map<task::TaskId, Waiting> waiting_;
  std::map<engine::SubmitId, task::TaskId> tries_;
  std::uint64_t submits_ = 0;
  std::vector<task::TaskId> known_;
};

}  // namespace recourse::sim
