// The memory store of a world: the product's verbs over a backend that the world can watch and
// disturb. A call runs at the virtual moment at which it commits.
//
// Thread safety: none; each world has its own.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "base/clock.h"
#include "sim/ledger.h"
#include "sim/observed_transaction.h"
#include "store/backend.h"
#include "store/memory/data.h"
#include "store/transactional_cases.h"
#include "store/transactional_store.h"

namespace recourse::sim {

// The call that is being carried out.
struct StoreCall {
  Verb verb;
  std::span<const store::Outcome> outcomes;
  std::optional<task::Move> ordered;
  bool lose_reply = false;
  // Asked before a call whose reply was lost is run again; lets the world go on meanwhile. False:
  // the caller is gone, or cannot reach the store in time.
  std::function<bool()> wait;
};

class SimBackend final : public store::Backend {
 public:
  using Observer = std::function<void(const StoreCall&, const std::vector<RowChange>&)>;

  SimBackend(store::memory::Data& data, const Clock& clock, Observer observer)
      : data_(data), clock_(clock), observer_(std::move(observer)) {}

  void set_call(StoreCall* call) { call_ = call; }
  [[nodiscard]] StoreCall* call() const { return call_; }

  Result<> run(store::Line line, store::Repeat repeat, Duration within,
               FunctionRef<Result<>(store::Transaction&)> work) override;

 private:
  Result<> commit(FunctionRef<Result<>(store::Transaction&)> work);

  store::memory::Data& data_;
  const Clock& clock_;
  Observer observer_;
  StoreCall* call_ = nullptr;
};

class SimStore {
 public:
  SimStore(const Clock& clock, store::Retention retention, SimBackend::Observer observer)
      : backend_(data_, clock, std::move(observer)),
        verbs_(backend_, std::move(retention)),
        cases_(backend_) {}

  [[nodiscard]] const store::memory::Data& data() const { return data_; }
  [[nodiscard]] const task::Task* find(const task::TaskId& id) const;

  // Runs a verb as `call`. Calls nest: one may wait while others are carried out.
  template <class Face, class Run>
  auto carry_out(StoreCall call, Run run) {
    StoreCall* const outer = backend_.call();
    backend_.set_call(&call);
    auto answer = run(face<Face>());
    backend_.set_call(outer);
    return answer;
  }

  // --- questions, as a node asks them ---
  [[nodiscard]] std::vector<store::NodeRow> nodes() const;
  [[nodiscard]] std::vector<store::Held> held_by(task::Incarnation node) const;
  [[nodiscard]] std::vector<task::Task> tasks(const std::vector<task::TaskId>& ids) const;
  [[nodiscard]] store::Counts counts() const { return data_.counts; }

 private:
  template <class Face>
  Face& face() {
    if constexpr (std::is_same_v<Face, store::Cases>) {
      return cases_;
    } else {
      return verbs_;
    }
  }

  store::memory::Data data_;
  SimBackend backend_;
  store::TransactionalStore verbs_;
  store::TransactionalCases cases_;
};

}  // namespace recourse::sim
