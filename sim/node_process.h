// A process of a node, for node.cc and node_commands.cc only.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "sim/node.h"

namespace recourse::sim {

// A handler that is being called.
struct Node::Begun {
  std::shared_ptr<const task::Task> task;
  Script script;
  bool asynchronous = false;
  // By the process's own time.
  TimePoint at;
  // What its thread calls next.
  std::deque<engine::Start> behind = {};
  bool told = false;
};

struct Node::Process {
  std::uint64_t number = 0;
  TimePoint born;
  TimePoint born_local;
  int drift = 0;
  std::unique_ptr<engine::Core> core;
  task::Incarnation incarnation;

  bool paused = false;
  TimePoint paused_at;
  bool stopping = false;
  TimePoint stop_asked_at;
  bool stopped = false;
  // What came while it was paused.
  std::deque<std::function<void()>> held_up;

  TimePoint wake_at = kNever;
  int idle_wakes = 0;

  TimePoint start_limit = TimePoint::min();
  std::deque<std::deque<engine::Start>> queue;
  int threads = 0;
  // Not called yet, and not recalled.
  std::set<engine::AttemptId> handed;
  std::map<engine::AttemptId, Begun> begun;
  std::set<engine::AttemptId> told_to_stop;
};

}  // namespace recourse::sim
