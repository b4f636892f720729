// The guard door of a process: all its guards, and the order in which they begin and end.
//
//   add ... -> the node starts -> start -> close -> the node stops -> the notifier stops -> stop
//
// It must outlive the node, whose threads run its rows: a thread cannot be taken away from user
// code.
//
// Safe to use from any thread, but for add(), which comes first.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "guard/guard.h"

namespace recourse::guard {

class Door {
 public:
  explicit Door(const GuardParts& parts) : parts_(parts) {}
  // Stops where stop() was not called.
  ~Door();
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  // Before the node starts; registers the kind. The table is prepared, or will be. kInvalid: a name
  // that another guard has.
  Result<> add(NewGuard guard);

  // In the order in which they were added.
  [[nodiscard]] std::span<const std::unique_ptr<Guard>> guards() const { return guards_; }
  // Empty: there is none of that name.
  [[nodiscard]] Guard* find(std::string_view name) const;

  // Each guard scans on a thread of its own: a database that is down stops no other's scan.
  void start();
  void close();
  void stop(Duration within);

 private:
  const GuardParts parts_;
  std::vector<std::unique_ptr<Guard>> guards_;
};

}  // namespace recourse::guard
