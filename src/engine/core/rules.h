// How failures of a kind are judged and what is done about them: given by the user, or the
// product's.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/core/settings.h"
#include "policy/backoff.h"
#include "policy/failure_router.h"
#include "policy/strategy.h"
#include "task/ids.h"
#include "task/kind_name.h"

namespace recourse::engine {

struct KindRules {
  KindSettings settings;
  policy::FailureRouter router = policy::standard_router();
  policy::Strategies strategies;
  // The kind's own, and those a task may ask for by name.
  std::shared_ptr<const policy::BackoffRegistry> backoffs =
      std::make_shared<const policy::BackoffRegistry>();
};

// The kinds of a node. A name that ends in `*` stands for all kinds that begin so; the longest one
// that fits is taken.
class KindTable {
 public:
  Result<> add(std::string_view name, KindRules rules);

  // Empty: no handler of this node fits.
  [[nodiscard]] const KindRules* find(const task::Kind& kind) const;
  // The name under which its rules were given; empty where there are none.
  [[nodiscard]] std::string name_for(const task::Kind& kind) const;
  // As the node's row lists them.
  [[nodiscard]] std::vector<task::Kind> names() const;
  [[nodiscard]] bool is_whole_name(const task::Kind& kind) const {
    return rules_.contains(kind.value);
  }
  // Those without a star: their lanes exist from the start.
  [[nodiscard]] std::vector<task::Kind> whole_names() const;

 private:
  std::map<std::string, KindRules, std::less<>> rules_;
};

// Of a task that asks for one by name, or the kind's own where the name is empty or unknown to this
// node: another may know it, and names that nobody knows are refused at submit.
policy::Backoff backoff_of(const KindRules& rules, const std::string& name);

// Whether a name of a node's row stands for the kind.
using task::fits;

}  // namespace recourse::engine
