// What runs the tasks of each kind on this node.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "engine/attempt_run.h"
#include "engine/core/rules.h"
#include "task/ids.h"

namespace recourse::engine {

class HandlerTable {
 public:
  struct Entry {
    Handler handler;
    Probe probe;
  };

  // A name that ends in `*` stands for all kinds that begin so; the longest one that fits counts.
  Result<> add(std::string_view kind, KindRules rules, Handler handler, Probe probe) {
    rules.settings.has_probe = probe != nullptr;
    if (Result<> added = kinds_.add(kind, std::move(rules)); !added) return added;
    entries_.emplace(std::string(kind), Entry{std::move(handler), std::move(probe)});
    return {};
  }

  [[nodiscard]] const KindTable& kinds() const { return kinds_; }

  // The core starts only what has one.
  [[nodiscard]] const Entry& entry_of(const task::Kind& kind) const {
    return entries_.at(kinds_.name_for(kind));
  }

 private:
  KindTable kinds_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace recourse::engine
